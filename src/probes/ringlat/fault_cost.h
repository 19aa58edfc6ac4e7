/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole cost of a page fault: ringlat measures the crossings, memlat the handler between them.
 * If ringlat has only a round trip, the rest besides the handler is the crossings and the kernel's
 * entry and exit code.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_FAULT_COST_H
#define LATSCOPE_PROBES_RINGLAT_FAULT_COST_H

#include <stdbool.h>

#include <core/run.h>

#define FAULT_COST_PARTS 3

struct fault_cost_part {
	const char *name; /* "u2k" */
	double p50_ns, mean_ns;
};

struct fault_cost {
	bool round_trip; /* the parts are handler and rest of a measured whole */
	const struct run_probe *ringlat, *memlat;
	unsigned int nr_parts;
	struct fault_cost_part parts[FAULT_COST_PARTS];
	struct fault_cost_part whole; /* the sum of medians is an estimate */
};

/* False: the run lacks one of the two, or has no faults. */
bool fault_cost__of(struct fault_cost *cost, const struct run *run);

#endif
