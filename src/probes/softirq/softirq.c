// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>

#include <probes/kit/bpf_steps.h>

#include "types.h"
#include "softirq.skel.h"

static const struct probe_method methods[] = {
	{
		.name = "tp_btf",
		.mechanism = "own clock from softirq_entry to softirq_exit, interrupts included",
		.needs = "BPF tracepoints with BTF",
		.programs = { "softirq_exit", "softirq_entry" },
		.end_program = "softirq_exit",
		.lacks_tasks = true,
	},
};

static int softirq_open(struct bpf_probe *probe, struct bpf_object_skeleton **skeleton)
{
	struct softirq_bpf *skel = softirq_bpf__open_opts(&probe->types.options);

	if (!skel)
		return -errno;
	PROBE_CONFIGURE(skel, probe);
	probe->skel = skel;
	*skeleton = skel->skeleton;
	return 0;
}

static int softirq_prepare(struct bpf_probe *probe, struct bpf_object *obj)
{
	struct softirq_bpf *skel = probe->skel;

	(void)obj;
	return bpf_map__set_max_entries(skel->maps.starts, probe->cpus);
}

static int softirq_start(struct bpf_probe *probe, struct lat_control **control)
{
	struct softirq_bpf *skel = probe->skel;

	*control = &skel->bss->control;
	return 0;
}

static int softirq_in_flight(struct bpf_probe *probe, struct lat_in_flight *waits, bool *age_known)
{
	struct softirq_bpf *skel = probe->skel;
	struct softirq_start start;

	*age_known = true;
	for (int cpu = 0; cpu < probe->cpus; cpu++) {
		int err = bpf_map__lookup_elem(skel->maps.starts, &cpu, sizeof(cpu), &start,
					       sizeof(start), 0);

		if (err)
			return err;
		if (start.ns && probe__wants_cpu(&probe->config, (unsigned int)cpu))
			probe__count_in_flight(waits, 1, start.ns);
	}
	return 0;
}

/*
 * The kernel counts a handler where the tracepoint softirq_entry is, so only those running differ.
 */
static void softirq_expect(const struct bpf_probe *probe, const struct run_probe *entry,
			   enum account_kind kind, struct run_check *check)
{
	uint64_t seen = entry->total.metrics[0].counts[LAT_SEEN];

	(void)kind;
	check->events.known = true;
	check->events.ours_low = seen;
	check->events.ours_high = seen + run__unseen(entry, 0);
	check->events.tolerance = (uint64_t)probe->cpus;
}

static void softirq_close(struct bpf_probe *probe)
{
	softirq_bpf__destroy(probe->skel);
}

static const struct bpf_probe_ops ops = {
	.open = softirq_open,
	.prepare = softirq_prepare,
	.start = softirq_start,
	.in_flight = softirq_in_flight,
	.account = ACCOUNT_SOFTIRQS,
	.expect = softirq_expect,
	.close = softirq_close,
};

const struct probe_ops softirq_probe = {
	BPF_PROBE_LIFECYCLE,
	.name = "softirq",
	.help = "softirqs: time that their handlers run, by vector",
	.what = "softirqs: how long their handlers run, by vector",
	.examples = "  latscope softirq -d 5s                    how long handlers run\n"
		    "  latscope softirq --by vector --cpu 2-3    which ones, on these CPUs\n",
	.tail_ns = PROBE_TAIL_NS,
	.nr_metrics = 1,
	.metrics = { { "handler", "softirq handler, entry to exit" } },
	.splits = 1U << LAT_BY_VECTOR | 1U << LAT_BY_CPU,
	.methods = methods,
	.nr_methods = sizeof(methods) / sizeof(methods[0]),
	.bpf = &ops,
};
