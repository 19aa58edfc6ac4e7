/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf events that the BPF programs read, and the timer that triggers the reads. */
#ifndef LATSCOPE_PROBES_RMID_EVENTS_H
#define LATSCOPE_PROBES_RMID_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"

/* 0 if this machine has the kind, else -errno: that of the first CPU that is still online. */
int events__probe(unsigned int kind, const bool *online, unsigned int cpus);

struct events {
	int *fds; /* -1: none */
	size_t nr;
};

/*
 * Opens kind on the online CPUs and stores the events in the map from key `at`. One that went
 * offline since `online` was read has none. After -errno, events__close() closes what was opened.
 */
int events__open(struct events *events, unsigned int kind, int map, unsigned int at,
		 const bool *online, unsigned int cpus);

/*
 * Runs the program on these CPUs every RMID_SLOT_NS, at the edges of slots. Clears timed[cpu] of a
 * CPU that is offline by now. After -errno, events__close() closes what was opened.
 */
int events__tick(struct events *events, int program, bool *timed, unsigned int cpus);

void events__close(struct events *events);

#endif
