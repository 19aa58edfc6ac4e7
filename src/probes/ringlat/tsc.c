// SPDX-License-Identifier: BSD-2-Clause
#include "tsc.h"

#include <time.h>

#define TRIES 16

/* The clock reading that took the fewest ticks is the least disturbed. */
struct tsc_pair tsc__pair(void)
{
	struct tsc_pair best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before, after;
		struct timespec at;

		before = tsc__begin();
		clock_gettime(CLOCK_MONOTONIC_RAW, &at);
		after = tsc__end();
		if (after - before >= least)
			continue;
		least = after - before;
		best.tsc = before + least / 2;
		best.ns = at.tv_sec * 1000000000ULL + at.tv_nsec;
	}
	return best;
}

uint64_t tsc__khz(struct tsc_pair from, struct tsc_pair to)
{
	if (to.ns <= from.ns || to.tsc <= from.tsc)
		return 0;
	return (uint64_t)((double)(to.tsc - from.tsc) * 1e6 / (double)(to.ns - from.ns) + 0.5);
}
