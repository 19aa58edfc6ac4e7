// SPDX-License-Identifier: BSD-2-Clause
#include "internal.h"

#include <errno.h>

#include "kernel.h"
#include "runqlat.skel.h"

#define SPLITS (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP)

static const struct probe_rung rungs[] = {
	{
		.name = "stamps",
		.mechanism = "scheduler's own stamps, read at sched_switch; they sum to schedstat",
		.needs = "BPF tracepoints with BTF, CONFIG_SCHED_INFO and CONFIG_FAIR_GROUP_SCHED",
		.programs = { "stamps_switch", "newtask" },
		.end_program = "stamps_switch",
		.again = { "newtask_again" },
		.loaded = { "prime", "stamps_census" },
		.unused_map = "start_ts",
	},
	{
		.name = "tp_btf",
		.mechanism = "own clock from wakeup or preemption to sched_switch, in task storage",
		.needs = "BPF tracepoints with BTF, and task storage (Linux 5.13)",
		.programs = { "stored_switch", "stored_wakeup_old", "stored_wakeup_new",
			      "newtask" },
		.end_program = "stored_switch",
		.again = { "newtask_again" },
		.loaded = { "prime", "stored_census" },
		.unused_map = "start_ts",
	},
	{
		.name = "raw_tp",
		.mechanism =
			"own clock from wakeup or preemption to sched_switch, in a hash by TID",
		.needs = "BPF raw tracepoints",
		.programs = { "hashed_switch", "hashed_wakeup", "hashed_wakeup_new" },
		.end_program = "hashed_switch",
		.unused_map = "tasks",
	},
};

/* Since 6.12 a stamp need not be of a wait: stamps_migrate tells. */
static bool stamps_deceive(const struct probe *probe)
{
	return probe->rung == &rungs[0] && kernel__has_member("sched_entity", "sched_delayed");
}

static int runqlat_open(struct probe *probe, struct bpf_object_skeleton **skeleton)
{
	struct runqlat_bpf *skel = runqlat_bpf__open();

	if (!skel)
		return -errno;
	skel->rodata->knobs = probe->knobs;
	probe->skel = skel;
	*skeleton = skel->skeleton;
	return 0;
}

static int runqlat_prepare(struct probe *probe, struct bpf_object *obj)
{
	return stamps_deceive(probe) ? probe__load_too(obj, "stamps_migrate") : 0;
}

static const char *loaded_program(const struct probe *probe, int i)
{
	return probe->rung->loaded[0] ? probe->rung->loaded[i] : NULL;
}

static int runqlat_start(struct probe *probe, struct lat_control **control)
{
	struct runqlat_bpf *skel = probe->skel;
	const char *prime = loaded_program(probe, 0);
	int err = 0;

	*control = &skel->bss->control;
	if (stamps_deceive(probe))
		err = probe__attach(probe, "stamps_migrate");
	return !err && prime ? probe__iterate(probe, prime) : err;
}

static int count_wait(void *open, const void *tid, const void *queued_ns)
{
	(void)tid;
	probe__count_open(open, 1, *(const uint64_t *)queued_ns);
	return 0;
}

static int runqlat_census(struct probe *probe, struct lat_open *open, bool *age_known)
{
	struct runqlat_bpf *skel = probe->skel;
	const char *census = loaded_program(probe, 1);
	int err;

	*age_known = true;
	if (!census)
		return probe__each_entry(skel->maps.start_ts, count_wait, open);
	skel->bss->open_waits = (struct lat_open){ 0 };
	err = probe__iterate(probe, census);
	*open = skel->bss->open_waits;
	return err;
}

static void runqlat_close(struct probe *probe)
{
	runqlat_bpf__destroy(probe->skel);
}

const struct probe_ops runqlat_ops = {
	.name = "runqlat",
	.nr_metrics = 1,
	.metrics = { { "run_queue", "wait for a CPU, runnable to running" } },
	.splits = SPLITS,
	.rungs = rungs,
	.nr_rungs = sizeof(rungs) / sizeof(rungs[0]),
	.open = runqlat_open,
	.prepare = runqlat_prepare,
	.start = runqlat_start,
	.census = runqlat_census,
	.close = runqlat_close,
};
