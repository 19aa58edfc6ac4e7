/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the records of rmid.bpf.c into the time of each process in each slot. Finds the process of
 * each span, and marks slots where it could not.
 */
#ifndef LATSCOPE_PROBES_RMID_ATTRIBUTION_H
#define LATSCOPE_PROBES_RMID_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processes.h"
#include "slots.h"

#define ATTRIBUTION_EDGE_NS 100000 /* a tick nearer to its edge is on time */

struct attribution {
	struct processes *processes;
	struct slots *slots;
	bool by_rmid; /* the kernel module reports processes; RMID_PROCESS only has their names */
	uint64_t records;
	uint64_t malformed;
	uint64_t last_seq; /* sequence number of the module's owner records; 0: none yet */
	bool owners_lost; /* one of them was lost, since attribution__doubt() */
	uint64_t ticks, ticks_in_time; /* ticks within ATTRIBUTION_EDGE_NS of a slot's edge */
	uint64_t no_value; /* cache readings without a value */
};

/* `cpus`: how many are possible. 0 or -ENOMEM. */
int attribution__init(struct attribution *attribution, unsigned int cpus);
void attribution__clear(struct attribution *attribution);

/* Processes a record of the ring. 0 or -ENOMEM. Malformed records are counted. */
int attribution__take(struct attribution *attribution, const void *record, size_t size);

/* Processes a valid batch, as from the ring. 0 or -ENOMEM. */
int attribution__take_batch(struct attribution *attribution, const struct lat_rmid_batch *batch);

/* Owner records were lost: slots up to then that are not complete yet may be attributed wrongly. */
void attribution__doubt(struct attribution *attribution, uint64_t until_ns);

#endif
