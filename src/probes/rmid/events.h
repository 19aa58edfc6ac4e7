/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf events that the programs read, and the timer that has them read in time. */
#ifndef LATSCOPE_PROBES_RMID_EVENTS_H
#define LATSCOPE_PROBES_RMID_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"

/* One kind on every CPU: 0 if this machine has it, else -errno. */
int events__probe(unsigned int kind);

struct events {
	int *fds; /* -1: none */
	unsigned int nr;
};

/*
 * Opens kind on the CPUs that are online and puts them into the map, from key `at` on. -errno, and
 * what was opened stays for events__close().
 */
int events__open(struct events *events, unsigned int kind, int map, unsigned int at,
		 const bool *online, unsigned int cpus);

/* Has the program run every RMID_SLOT_NS on them, from the edge of a slot on. As events__open(). */
int events__tick(struct events *events, int program, const bool *online, unsigned int cpus);

void events__close(struct events *events);

#endif
