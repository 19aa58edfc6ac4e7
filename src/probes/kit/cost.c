// SPDX-License-Identifier: BSD-2-Clause
#include "cost.h"

#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf_probe.h"

/* The kernel measures all programs or none, so all probes of the process share this. */
static struct {
	int fd; /* valid while users > 0; -1: the kernel refused */
	unsigned int users; /* probes whose programs are timed */
	unsigned int probes,
		enough; /* since the first user: all probes, and those with enough events */
} timing;

void cost__new(struct cost *cost, bool timed)
{
	cost->timed = timed;
	if (!timed)
		return;
	if (!timing.users) {
		timing.fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
		timing.probes = timing.enough = 0;
	}
	timing.users++;
	timing.probes++;
}

/* This probe's programs need not be timed any more. */
static void leave(struct cost *cost)
{
	cost->timed = false;
	if (!--timing.users && timing.fd >= 0)
		close(timing.fd);
}

void cost__free(struct cost *cost)
{
	if (!cost->timed)
		return;
	leave(cost);
	timing.probes--;
}

void cost__begin(struct cost *cost, const struct bpf_probe *probe)
{
	struct bpf_probe_usage now;

	bpf_probe__usage(probe, &now);
	cost->runs = now.runs;
	cost->run_ns = now.run_ns;
	cost->recursion_missed = now.recursion_missed;
}

void cost__end(struct cost *cost, const struct bpf_probe *probe, uint64_t elapsed_ns,
	       struct run_cost *out)
{
	struct bpf_probe_usage now;

	if (!cost->timed)
		return;
	if (timing.fd >= 0 && !bpf_probe__usage(probe, &now)) {
		out->runs = now.runs - cost->runs;
		out->run_ns = now.run_ns - cost->run_ns;
		out->timed_ns = elapsed_ns;
		out->timed_events = bpf_probe__seen(probe);
	}
	leave(cost);
}

void cost__poll(struct cost *cost, const struct bpf_probe *probe, uint64_t elapsed_ns,
		struct run_cost *out)
{
	bool enough;

	if (!cost->timed || elapsed_ns < SUMMARY_TIMED_NS)
		return;
	enough = bpf_probe__seen(probe) >= SUMMARY_COST_EVENTS;
	timing.enough += enough;
	if (enough || summary__is_timed(elapsed_ns, timing.probes, timing.enough))
		cost__end(cost, probe, elapsed_ns, out);
}

void cost__missed(const struct cost *cost, const struct bpf_probe *probe, struct run_probe *entry)
{
	struct bpf_probe_usage now;

	if (!bpf_probe__usage(probe, &now))
		entry->recursion_missed = now.recursion_missed - cost->recursion_missed;
}
