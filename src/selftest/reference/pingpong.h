/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads on one CPU that wake each other by turns: each turn is two switches and two short
 * waits for the CPU. How long a number of turns takes tells what a switch costs.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_PINGPONG_H
#define LATSCOPE_SELFTEST_REFERENCE_PINGPONG_H

#include "reference.h"

struct reference_pingpong {
	int cpu;
	unsigned int count;
	int ping[2], pong[2];
	pthread_t thread;

	uint64_t elapsed_ns;
	char why[REFERENCE_WHY];
};

int reference_pingpong__prepare(struct reference_pingpong *turns);
int reference_pingpong__run(struct reference_pingpong *turns);

#endif
