/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots that the service makes by itself, in the directory of its flight recorder: for SIGUSR1,
 * and when a trigger's condition is met. One is made at a time, in steps; one more can wait for it.
 * All triggers together make at most one in five minutes. The eight newest are kept.
 */
#ifndef LATSCOPE_SERVE_KEEPER_H
#define LATSCOPE_SERVE_KEEPER_H

#include "recorder.h"
#include "trigger.h"

#define KEEPER_TRIGGERS 8
#define KEEPER_PAUSE_NS 300000000000ULL
#define KEEPER_MOST 8

struct keeper;

struct keeper_config {
	const struct run *run;
	const struct recording *ring; /* the directory */
	uint64_t last_ns; /* length of a snapshot */
	struct trigger triggers[KEEPER_TRIGGERS];
	unsigned int nr_triggers;
	/* Called with the directory of a snapshot and its reason, or with an error. */
	void (*done)(const char *dir, const char *reason, int err);
};

/* Blocks SIGUSR1. 0 or -errno. */
int keeper__new(struct keeper **keeper, const struct keeper_config *config);
void keeper__free(struct keeper *keeper); /* NULL is allowed */

/* A second has passed; `delta`, one per probe. */
void keeper__test(struct keeper *keeper, const struct run_data *delta, uint64_t start_ns,
		  uint64_t end_ns);

/* Call often: begins a snapshot if a signal asked for it, and works on it for a few ms. */
void keeper__work(struct keeper *keeper);

uint64_t keeper__snapshots(const struct keeper *keeper);

#endif
