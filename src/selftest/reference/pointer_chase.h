/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads that wait for each other: every line of memory holds where the next one is, in one cycle of
 * random order, so that no prefetcher knows it. By one chain, the time of a step is the latency
 * from the load to its use; by several at a time, as much is asked of the memory as a CPU can.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_POINTER_CHASE_H
#define LATSCOPE_SELFTEST_REFERENCE_POINTER_CHASE_H

#include <stdatomic.h>

#include "reference.h"

#define CHASE_LINE 64
#define CHASE_CHAINS 8

struct reference_pointer_chase {
	size_t bytes; /* of memory, well beyond the caches */
	unsigned int chains; /* up to CHASE_CHAINS */
	int cpu; /* on which it runs, and by whose node's memory; -1: any */
	uint64_t seed;
	const atomic_bool *stop; /* ends it */

	void *memory;
	uint64_t steps, elapsed_ns; /* a step is a load */
	char why[REFERENCE_WHY];
};

/* In the thread that runs it: the memory is that of its node. 0 or -errno, with why. */
int reference_pointer_chase__prepare(struct reference_pointer_chase *chase);

/* Until *stop. */
void reference_pointer_chase__run(struct reference_pointer_chase *chase);

void reference_pointer_chase__free(struct reference_pointer_chase *chase);

#endif
