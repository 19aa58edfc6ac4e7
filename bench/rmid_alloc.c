// SPDX-License-Identifier: BSD-2-Clause
/*
 * ns for a pair of allocate and free, with 16 RMIDs and with 512 in turn, so that what else the
 * machine does hits both. Prints the lowest of many rounds of each: whatever came between only
 * adds.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "../kmod/rmid/rmid_alloc.h"

#define PAIRS 20000
#define ROUNDS 500
#define MOST 512

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Each is given out when its limbo is just over. */
static double ns_per_pair(uint32_t count)
{
	static struct rmid_info infos[MOST + 1];
	static volatile uint32_t sink;
	struct rmid_alloc alloc;
	uint64_t began, clock = 0;

	rmid_alloc__init(&alloc, infos, count, count);
	began = now_ns();
	for (int i = 0; i < PAIRS; i++) {
		sink = rmid_alloc__get(&alloc, 1, ++clock);
		if (!sink || !rmid_alloc__put(&alloc, sink, clock))
			return -1;
	}
	return (double)(now_ns() - began) / PAIRS;
}

int main(void)
{
	double few = 1e9, many = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double a = ns_per_pair(16), b = ns_per_pair(MOST);

		if (a < 0 || b < 0)
			return 1;
		few = a < few ? a : few;
		many = b < many ? b : many;
	}
	printf("figure=pair_of_512 value=%.1f unit=ns limit=60\n", many);
	printf("figure=pair_of_512_to_pair_of_16 value=%.2f unit=ratio limit=1.2\n", many / few);
	return 0;
}
