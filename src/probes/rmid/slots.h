/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of CPU time, as bpf/rmid.bpf.c tells them, added up by slot of RMID_SLOT_NS and process. A
 * slot is whole when the spans of every CPU have gone beyond it; those come out in order of time.
 * What no span covers is missing from its slot, and known to be. Times: CLOCK_MONOTONIC, ns.
 */
#ifndef LATSCOPE_PROBES_RMID_SLOTS_H
#define LATSCOPE_PROBES_RMID_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <latscope/rmid_record.h>

#define RMID_EVENTS 3 /* of enum latscope_rmid_event, which begins with 1 */

/* What the monitoring counters of the L3 caches had to tell, added up over the caches. */
struct rmid_cache {
	uint64_t bytes; /* occupancy: in the caches; MBM: moved within span_ns */
	uint64_t span_ns; /* MBM only; the reading before may lie in an earlier slot */
	uint64_t domains; /* mask of 1 << (domain % 64): those read; 0: nothing is known */
};

/* What one process had. A counter's value is that of counted_ns, which is all of cpu_ns or less. */
struct rmid_sums {
	uint64_t cpu_ns;
	uint64_t switches; /* times that one of its threads left a CPU */
	uint64_t values[RMID_COUNTERS]; /* scaled to the time the counter was enabled */
	uint64_t counted_ns[RMID_COUNTERS];
	struct rmid_cache cache[RMID_EVENTS];
};

struct slots_cell {
	uint32_t process; /* as rmid_processes has them */
	uint32_t next; /* of the same hash, plus 1 */
	struct rmid_sums sums;
};

#define SLOTS_HEADS 32

struct slot {
	uint64_t start_ns;
	uint64_t missing_ns; /* of all CPUs: nobody knows who had them */
	bool doubtful; /* some of it may stand with the wrong process */
	struct slots_cell *cells;
	size_t nr, room;
	uint32_t heads[SLOTS_HEADS];
};

struct slots;

/* There is no CPU yet; they have numbers below `cpus`. -ENOMEM. */
int slots__new(struct slots **slots, unsigned int cpus);
void slots__free(struct slots *slots);

/* Once, before all that follows: nothing before then counts. */
void slots__start(struct slots *slots, uint64_t start_ns);

/* Nothing from then on counts, of what is still to be added. */
void slots__end(struct slots *slots, uint64_t end_ns);

/*
 * From since_ns on, or from where slots are still to come out, time on this CPU counts. A CPU joins
 * also with its first span. When it goes offline it must leave, or everything waits for it: until
 * its next span all its time belongs to `process`, one of PROCESSES_SPECIAL.
 */
void slots__join(struct slots *slots, unsigned int cpu, uint64_t since_ns);
void slots__leave(struct slots *slots, unsigned int cpu, uint32_t process);

/* A span of `process`. -EINVAL: no such CPU; -ENOMEM. */
int slots__add(struct slots *slots, const struct lat_rmid_span *span, uint32_t process);

/*
 * A batch with its cells, which belong to the processes in `owners`. One that was added before does
 * not count again. Of one that is not wholly new, or lies partly outside the window, each process
 * gets its share. -EINVAL: no such CPU, or it cannot be right; -ENOMEM.
 */
int slots__add_batch(struct slots *slots, const struct lat_rmid_batch *batch,
		     const uint32_t *owners);

/* Cell i of a batch. */
const struct lat_rmid_cell *slots__cell(const struct lat_rmid_batch *batch, uint32_t i);

/* Has all that the CPU did before then been added? Also if it is offline. */
bool slots__reaches(const struct slots *slots, unsigned int cpu, uint64_t time_ns);

/*
 * The span that is open on a CPU since since_ns has lasted until now_ns at least. What its record
 * will say of that time is not added again. Nothing, if records of before are still to come. The
 * counters of such a slot are not known.
 */
int slots__extend(struct slots *slots, unsigned int cpu, uint32_t process, uint64_t since_ns,
		  uint64_t now_ns);

/* A reading of a monitoring counter, which has a value. 0 or -ENOMEM. */
int slots__add_reading(struct slots *slots, const struct latscope_rmid_read *read,
		       uint32_t process);

/* Of no CPU will anything come any more that lies before then: what is not there is missing. */
int slots__give_up(struct slots *slots, uint64_t until_ns);

/* Since the last slot that came out, attribution may have failed. */
void slots__doubt(struct slots *slots, uint64_t until_ns);

/* All slots before have come out. */
uint64_t slots__settled_ns(const struct slots *slots);

/* The oldest slot if it is whole, good until the next call of anything here; else NULL. */
const struct slot *slots__next(struct slots *slots);

/* The same of one that began but is not whole: after slots__give_up(), the last of the window. */
const struct slot *slots__rest(struct slots *slots);

#endif
