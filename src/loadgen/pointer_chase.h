/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependent loads through memory: each line holds the address of the next one, in one cycle of
 * random order, which no prefetcher can predict. With one chain, the time of a step is the
 * load-to-use latency; with several, the CPU has as many loads outstanding as it can.
 */
#ifndef LATSCOPE_LOADGEN_POINTER_CHASE_H
#define LATSCOPE_LOADGEN_POINTER_CHASE_H

#include <stdatomic.h>

#include "primitives.h"

#define CHASE_LINE 64
#define CHASE_CHAINS 8

struct pointer_chase {
	size_t bytes; /* of memory, much more than the caches hold */
	unsigned int chains; /* up to CHASE_CHAINS */
	int cpu; /* CPU to run on, with memory of its node; -1: any */
	uint64_t seed;
	const atomic_bool *stop; /* ends it */

	void *memory;
	uint64_t steps, elapsed_ns; /* a step is a load */
};

/* Call it in the thread that runs the chase: the memory is of that thread's node. */
int pointer_chase__prepare(struct pointer_chase *chase);

void pointer_chase__run(struct pointer_chase *chase);

void pointer_chase__free(struct pointer_chase *chase);

#endif
