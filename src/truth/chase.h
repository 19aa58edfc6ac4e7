/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads that wait for each other: every line of memory holds where the next one is, in one cycle of
 * random order, so that no prefetcher knows it. By one chain, the time of a step is the latency
 * from the load to its use; by several at a time, as much is asked of the memory as a CPU can.
 */
#ifndef LATSCOPE_TRUTH_CHASE_H
#define LATSCOPE_TRUTH_CHASE_H

#include <stdatomic.h>

#include "truth.h"

#define CHASE_LINE 64
#define CHASE_CHAINS 8

struct truth_chase {
	size_t bytes; /* of memory, well beyond the caches */
	unsigned int chains; /* up to CHASE_CHAINS */
	int cpu; /* on which it runs, and by whose node's memory; -1: any */
	uint64_t seed;
	const atomic_bool *stop; /* ends it */

	void *memory;
	uint64_t steps, elapsed_ns; /* a step is a load */
	char why[TRUTH_WHY];
};

/* In the thread that runs it: the memory is that of its node. 0 or -errno, with why. */
int truth_chase__prepare(struct truth_chase *chase);

/* Until *stop. */
void truth_chase__run(struct truth_chase *chase);

void truth_chase__free(struct truth_chase *chase);

#endif
