/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page fault costs as a whole: ringlat has the crossings, memlat the handler between. Where
 * ringlat has a round trip only, what the handler leaves of it are the crossings with the kernel's
 * entry and exit code.
 */
#ifndef LATSCOPE_CORE_FAULT_COST_H
#define LATSCOPE_CORE_FAULT_COST_H

#include <stdbool.h>

#include "run.h"

#define FAULT_COST_PARTS 3

struct fault_cost_part {
	const char *name; /* "u2k" */
	double p50_ns, mean_ns;
};

struct fault_cost {
	bool round_trip; /* its parts are handler and rest, which add up to what was measured */
	const struct run_probe *ringlat, *memlat;
	unsigned int nr_parts;
	struct fault_cost_part parts[FAULT_COST_PARTS];
	struct fault_cost_part whole; /* of medians the sum is an estimate */
};

/* False: the run lacks one of the two, or has no faults. */
bool fault_cost__of(struct fault_cost *cost, const struct run *run);

#endif
