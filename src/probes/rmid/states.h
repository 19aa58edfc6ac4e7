/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of the CPUs, in memory that they share with the BPF programs: map `cpus`. */
#ifndef LATSCOPE_PROBES_RMID_STATES_H
#define LATSCOPE_PROBES_RMID_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution.h"

/* The accounting of a window, printed at the end of the output. */
struct rmid_account {
	uint64_t records; /* records received */
	uint64_t lost_spans, lost_others; /* records lost */
	uint64_t hidden; /* switches for which no program ran */
	uint64_t malformed;
	uint64_t failed_reads; /* failed reads of a perf event */
	uint64_t no_value; /* cache readings without a value */
	uint64_t ticks, ticks_in_time; /* ticks near the edge of a slot: ATTRIBUTION_EDGE_NS */
	uint64_t slots, incomplete_slots; /* slots that were returned */
	uint64_t missing_ns; /* time of all CPUs without a known process; part of told_ns */
	uint64_t wall_ns; /* present CPUs times the window */
	uint64_t told_ns; /* sum of all rows: must be equal, otherwise something is wrong */
};

struct states {
	struct lat_rmid_cpu *of; /* by CPU; NULL: not mapped */
	size_t size;
	unsigned int cpus;
};

int states__map(struct states *states, int map, unsigned int cpus); /* -errno */
void states__unmap(struct states *states);

/* Records other than spans that found no room in the ring. */
uint64_t states__lost_others(const struct states *states);

/* Adds what the CPUs counted to the account. */
void states__add_up(const struct states *states, struct rmid_account *account);

/* The CPU is offline: its open span has no end. */
void states__leave(struct states *states, unsigned int cpu);

/*
 * Takes what a CPU has not sent yet: its open batch, unless that may still grow before `until`, and
 * its open span, which has lasted at least until then. 0 or -ENOMEM.
 */
int states__take(const struct states *states, unsigned int cpu, struct attribution *attribution,
		 uint64_t until, bool stopped);

#endif
