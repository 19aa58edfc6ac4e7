// SPDX-License-Identifier: BSD-2-Clause
#include "internal.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "iolat.skel.h"
#include "kernel.h"

#define TASK_SPLITS (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP)

static const struct probe_rung rungs[] = {
	{
		.name = "stamps",
		.mechanism = "block layer's own stamps in the request, read at block_rq_complete",
		.needs =
			"BPF tracepoints with BTF, and request stamps (a queue with statistics on)",
		.programs = { "stamps_complete", "stamps_requeue" },
		.lacks = TASK_SPLITS,
	},
	{
		.name = "tp_btf",
		.mechanism =
			"own stamp at block_rq_issue, in a hash by request; time queued by the kernel's",
		.needs = "BPF tracepoints with BTF (Linux 5.5)",
		.programs = { "hashed_complete", "hashed_requeue" },
	},
	{
		.name = "raw_tp",
		.mechanism =
			"own stamp at block_rq_issue, in a hash by request; time queued by the kernel's",
		.needs = "BPF raw tracepoints",
		.programs = { "raw_complete", "raw_issue", "raw_requeue" },
	},
};

enum { STAMPS, TP_BTF, RAW_TP };

struct iolat {
	struct iolat_bpf *skel;
	/*
	 * On the stamps rung: our own stamp at issue, for requests that the kernel does not stamp. It is
	 * there from the start, goes when all requests seen were stamped, and comes back to stay with
	 * the first that was not.
	 */
	struct bpf_link *fallback;
	bool fallback_stays;
	uint64_t missed;
};

static bool wants_identity(const struct lat_knobs *knobs)
{
	return knobs->by & TASK_SPLITS || knobs->tgid || knobs->tid || knobs->cgroup ||
	       knobs->comm[0];
}

static int iolat_suits(const struct probe *probe, const struct probe_rung *rung, char why[RUN_TEXT])
{
	if (rung != &rungs[STAMPS] || !wants_identity(&probe->knobs))
		return 0;
	snprintf(why, RUN_TEXT, "does not see who submits, which a filter by task needs");
	return -EOPNOTSUPP;
}

static int iolat_open(struct probe *probe, struct bpf_object_skeleton **skeleton)
{
	struct iolat *iolat = calloc(1, sizeof(*iolat));
	int err;

	if (!iolat)
		return -ENOMEM;
	iolat->skel = iolat_bpf__open();
	if (!iolat->skel) {
		err = -errno;
		free(iolat);
		return err;
	}
	probe->knobs.identity = wants_identity(&probe->knobs);
	iolat->skel->rodata->knobs = probe->knobs;
	probe->skel = iolat;
	*skeleton = iolat->skel->skeleton;
	return 0;
}

static const char *issue_program(void)
{
	return kernel__tracepoint_args("block_rq_issue") == 1 ? "hashed_issue"
							      : "hashed_issue_queue";
}

static const char *submit_program(void)
{
	return kernel__has_tracepoint("block_io_start") ? "submit_start" : "submit_insert";
}

static int iolat_prepare(struct probe *probe, struct bpf_object *obj)
{
	int err = 0;

	if (probe->rung == &rungs[RAW_TP])
		return 0;
	err = probe__load_too(obj, issue_program());
	if (err || !probe->knobs.identity)
		return err;
	err = probe__load_too(obj, submit_program());
	if (!err && kernel__has_tracepoint("block_rq_merge"))
		err = probe__load_too(obj, "merged");
	return err;
}

static int attach_fallback(struct probe *probe)
{
	struct iolat *iolat = probe->skel;

	iolat->fallback =
		bpf_program__attach(bpf_object__find_program_by_name(probe->obj, issue_program()));
	return iolat->fallback ? 0 : -errno;
}

static int iolat_start(struct probe *probe, struct lat_control **control)
{
	struct iolat *iolat = probe->skel;
	int err;

	*control = &iolat->skel->bss->control;
	if (probe->rung == &rungs[STAMPS])
		return attach_fallback(probe);
	if (probe->rung == &rungs[RAW_TP])
		return 0;
	err = probe__attach(probe, issue_program());
	if (err || !probe->knobs.identity)
		return err;
	err = probe__attach(probe, submit_program());
	if (!err && kernel__has_tracepoint("block_rq_merge"))
		err = probe__attach(probe, "merged");
	return err;
}

/* Stamps of the fallback that no completion asked for. Those of requeued requests are still needed. */
static void clear_starts(struct iolat *iolat)
{
	int fd = bpf_map__fd(iolat->skel->maps.start_ts);
	uint64_t id, next, *at = NULL;
	struct iolat_start start;
	bool more;

	more = !bpf_map_get_next_key(fd, at, &next);
	while (more) {
		id = next;
		more = !bpf_map_get_next_key(fd, &id, &next);
		if (!bpf_map_lookup_elem(fd, &id, &start) && !start.requeues)
			bpf_map_delete_elem(fd, &id);
	}
}

static int iolat_tick(struct probe *probe, const struct run_data *now)
{
	const __u64 *counts = now->metrics[0].counts;
	struct iolat *iolat = probe->skel;
	uint64_t missed = counts[LAT_MISSED_START] - iolat->missed;

	iolat->missed = counts[LAT_MISSED_START];
	if (probe->rung != &rungs[STAMPS] || iolat->fallback_stays)
		return 0;
	if (!iolat->fallback && missed) {
		iolat->fallback_stays = true;
		return attach_fallback(probe);
	}
	if (!iolat->fallback || !counts[LAT_SEEN])
		return 0;
	if (counts[LAT_FALLBACK] || missed) {
		iolat->fallback_stays = true;
		return 0;
	}
	bpf_link__destroy(iolat->fallback);
	iolat->fallback = NULL;
	clear_starts(iolat);
	return 0;
}

/* What the kernel counts as in flight, as /sys/block/DISK/inflight: "reads writes". */
static uint64_t inflight(const struct lat_knobs *knobs, const char *dir)
{
	unsigned int major, minor, reads, writes;
	char path[RUN_TEXT];
	bool wanted = true;
	FILE *file;

	snprintf(path, sizeof(path), "%s/dev", dir);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%u:%u", &major, &minor) == 2 && knobs->disk)
		wanted = (major << 20 | minor) == knobs->disk;
	fclose(file);
	snprintf(path, sizeof(path), "%s/inflight", dir);
	file = wanted ? fopen(path, "re") : NULL;
	if (!file)
		return 0;
	if (fscanf(file, "%u %u", &reads, &writes) != 2)
		reads = writes = 0;
	fclose(file);
	return reads + writes;
}

static void kernel_census(const struct probe *probe, struct lat_open *open)
{
	glob_t disks;

	if (glob("/sys/block/*", 0, NULL, &disks))
		return;
	for (size_t i = 0; i < disks.gl_pathc; i++)
		open->count += inflight(&probe->knobs, disks.gl_pathv[i]);
	globfree(&disks);
}

static int iolat_census(struct probe *probe, struct lat_open *open, bool *age_known)
{
	struct iolat *iolat = probe->skel;
	int fd = bpf_map__fd(iolat->skel->maps.start_ts);
	struct iolat_start start;
	uint64_t id, *at = NULL;

	*open = (struct lat_open){ 0 };
	*age_known = probe->rung != &rungs[STAMPS];
	if (!*age_known) {
		kernel_census(probe, open);
		return 0;
	}
	while (!bpf_map_get_next_key(fd, at, &id)) {
		at = &id;
		if (!bpf_map_lookup_elem(fd, &id, &start) && !start.unwanted)
			probe__count_open(open, 1,
					  start.issue_ns ? start.issue_ns : start.queue_ns);
	}
	return 0;
}

static void iolat_close(struct probe *probe)
{
	struct iolat *iolat = probe->skel;

	bpf_link__destroy(iolat->fallback);
	iolat_bpf__destroy(iolat->skel);
	free(iolat);
}

const struct probe_ops iolat_ops = {
	.name = "iolat",
	.nr_metrics = 3,
	.metrics = { { "device", "block request, first issue to the driver to completion" },
		     { "queued", "block request, allocated to first issue" },
		     { "total", "block request, allocated to completion" } },
	.splits = TASK_SPLITS | 1U << LAT_BY_DISK | 1U << LAT_BY_OP,
	.rungs = rungs,
	.nr_rungs = sizeof(rungs) / sizeof(rungs[0]),
	.open = iolat_open,
	.suits = iolat_suits,
	.prepare = iolat_prepare,
	.start = iolat_start,
	.tick = iolat_tick,
	.census = iolat_census,
	.close = iolat_close,
};
