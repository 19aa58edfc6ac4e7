// SPDX-License-Identifier: BSD-2-Clause
#include "cost.h"

#include <bpf/bpf.h>

int cost__start(void)
{
	return bpf_enable_stats(BPF_STATS_RUN_TIME);
}

void cost__begin(struct cost *cost, const struct probe *probe)
{
	probe__usage(probe, &cost->before);
}

void cost__end(const struct cost *cost, const struct probe *probe, uint64_t elapsed_ns,
	       struct run_cost *out)
{
	struct probe_usage now;

	if (probe__usage(probe, &now))
		return;
	out->runs = now.runs - cost->before.runs;
	out->run_ns = now.run_ns - cost->before.run_ns;
	out->timed_ns = elapsed_ns;
	out->timed_events = probe__seen(probe);
}

void cost__missed(const struct cost *cost, const struct probe *probe, struct run_probe *entry)
{
	struct probe_usage now;

	if (!probe__usage(probe, &now))
		entry->recursion_missed = now.recursion_missed - cost->before.recursion_missed;
}
