/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads on one CPU that wake each other by turns: each turn is two switches and two short
 * waits for the CPU. How long a number of turns takes tells what a switch costs.
 */
#ifndef LATSCOPE_TRUTH_TURNS_H
#define LATSCOPE_TRUTH_TURNS_H

#include "truth.h"

struct truth_turns {
	int cpu;
	unsigned int count;
	int ping[2], pong[2];
	pthread_t thread;

	uint64_t elapsed_ns;
	char why[TRUTH_WHY];
};

int truth_turns__prepare(struct truth_turns *turns);
int truth_turns__run(struct truth_turns *turns);

#endif
