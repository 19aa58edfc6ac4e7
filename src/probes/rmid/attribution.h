/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the records of bpf/rmid.bpf.c to what each process had in each slot: finds out whose a span
 * is, and knows where it could not.
 */
#ifndef LATSCOPE_PROBES_RMID_ATTRIBUTION_H
#define LATSCOPE_PROBES_RMID_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processes.h"
#include "slots.h"

#define ATTRIBUTION_EDGE_NS 100000 /* a tick that is nearer to its edge is in time */

struct attribution {
	struct processes *processes;
	struct slots *slots;
	bool by_rmid; /* the module tells who there is; RMID_PROCESS only has their names */
	uint64_t records;
	uint64_t malformed;
	uint64_t last_seq; /* of the module's records on owners; 0: none came */
	bool owners_lost; /* one of them, since attribution__doubt() */
	uint64_t ticks, ticks_in_time; /* within ATTRIBUTION_EDGE_NS of the edge of a slot */
	uint64_t no_value; /* readings of caches that gave none */
};

/* cpus: as slots__new(). 0 or -ENOMEM. */
int attribution__init(struct attribution *attribution, unsigned int cpus);
void attribution__clear(struct attribution *attribution);

/* Takes a record of the ring. 0 or -ENOMEM; what is no record is counted. */
int attribution__take(struct attribution *attribution, const void *record, size_t size);

/* A batch that is sound, as of the ring. 0 or -ENOMEM. */
int attribution__take_batch(struct attribution *attribution, const struct lat_rmid_batch *batch);

/* Records were lost that tell who is who: slots that did not come out may be wrong until then. */
void attribution__doubt(struct attribution *attribution, uint64_t until_ns);

#endif
