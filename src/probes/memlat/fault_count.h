/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many faults of the measured tasks the kernel counts while the window is open, and no program
 * sees: for memlat. See src/probes/memlat/unseen.bpf.h.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_FAULT_COUNT_H
#define LATSCOPE_PROBES_MEMLAT_FAULT_COUNT_H

#include <core/run.h>

#include "types.h"

struct bpf_probe;

/* What the probe has counted around the two readings of the kernel's counts. */
struct fault_count {
	bool known; /* both readings succeeded */
	bool by_events; /* the kernel has no event for some: of the method perf-event */
	bool filters; /* the filters leave tasks out */
	uint64_t faults; /* as struct memlat_unseen */
	uint64_t before, after, next, last; /* faults seen before and after each reading */
	uint64_t missed_after,
		missed_next; /* recursion_missed after the first, before the second */
};

/* Soon after the window has opened, and shortly before it closes. */
void fault_count__begin(struct fault_count *count, struct bpf_probe *probe,
			struct memlat_unseen *unseen);
void fault_count__end(struct fault_count *count, struct bpf_probe *probe,
		      struct memlat_unseen *unseen);

/*
 * Sets no_event, and limits recursion_missed, which is of all tasks, to those that the filters
 * leave. `missed`: recursion_missed when the window opened.
 */
void fault_count__apply(const struct fault_count *count, uint64_t missed, struct run_probe *entry);

#endif
