/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of the CPUs, in memory that they share with the BPF programs: map `cpus`. */
#ifndef LATSCOPE_PROBES_RMID_STATES_H
#define LATSCOPE_PROBES_RMID_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "attribution.h"

struct states {
	struct lat_rmid_cpu *of; /* by CPU; NULL: not mapped */
	size_t size;
	unsigned int cpus;
};

int states__map(struct states *states, int map, unsigned int cpus); /* -errno */
void states__unmap(struct states *states);

/* Records other than spans that found no room in the ring. */
uint64_t states__lost_others(const struct states *states);

/* Adds what the CPUs counted. */
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
