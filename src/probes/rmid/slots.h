/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums the spans of CPU time from rmid.bpf.c by slot of RMID_SLOT_NS and process. A slot is
 * complete when the spans of every CPU have passed it; complete slots are returned in order of
 * time. Time that no span covers is counted as missing in its slot. Times: CLOCK_MONOTONIC, ns.
 */
#ifndef LATSCOPE_PROBES_RMID_SLOTS_H
#define LATSCOPE_PROBES_RMID_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <latscope/rmid_record.h>

#define RMID_EVENTS 3 /* values of enum latscope_rmid_event, which begins with 1 */

/* Readings of the L3 caches' monitoring counters, summed over the caches. */
struct rmid_cache {
	uint64_t bytes; /* occupancy: in the caches; MBM: moved within span_ns */
	uint64_t span_ns; /* MBM only; the previous reading may be in an earlier slot */
	uint64_t domains; /* mask of 1 << (domain % 64) of the domains read; 0: unknown */
};

/* The sums of one process. A counter's value covers counted_ns, at most cpu_ns. */
struct rmid_sums {
	uint64_t cpu_ns;
	uint64_t switches; /* times that one of its threads left a CPU */
	uint64_t values[RMID_COUNTERS]; /* scaled to the time the counter was enabled */
	uint64_t counted_ns[RMID_COUNTERS];
	struct rmid_cache cache[RMID_EVENTS];
};

struct slots_cell {
	uint32_t process; /* numbers of processes.h */
	uint32_t next; /* next with the same hash, plus 1 */
	struct rmid_sums sums;
};

#define SLOTS_HEADS 32

struct slot {
	uint64_t start_ns;
	uint64_t missing_ns; /* time of all CPUs without a known process */
	bool doubtful; /* some time may be attributed to the wrong process */
	struct slots_cell *cells;
	size_t nr, room;
	uint32_t heads[SLOTS_HEADS];
};

struct slots;

/* No CPU has joined yet; CPU numbers are below `cpus`. 0 or -ENOMEM. */
int slots__new(struct slots **slots, unsigned int cpus);
void slots__free(struct slots *slots);

/* Call once, before the rest: ignores samples before start_ns. */
void slots__start(struct slots *slots, uint64_t start_ns);

/* Ignores samples after end_ns. */
void slots__end(struct slots *slots, uint64_t end_ns);

/*
 * Time on this CPU counts from since_ns, or from the oldest slot not yet returned. The first span
 * of a CPU joins it, too. A CPU that goes offline must leave, otherwise all slots wait for it.
 * Until its next span its time belongs to `process`, one of PROCESSES_SPECIAL.
 */
void slots__join(struct slots *slots, unsigned int cpu, uint64_t since_ns);
void slots__leave(struct slots *slots, unsigned int cpu, uint32_t process);

/* Adds a span of `process`. -EINVAL: no such CPU; -ENOMEM. */
int slots__add(struct slots *slots, const struct lat_rmid_span *span, uint32_t process);

/*
 * Adds a batch with its cells, which belong to the processes in `owners`. A batch that was already
 * added is ignored. If its first span was added while it was open, only the rest is new. If only
 * part of it is inside the window, each process gets its share of that part. -EINVAL: no such CPU,
 * or invalid; -ENOMEM.
 */
int slots__add_batch(struct slots *slots, const struct lat_rmid_batch *batch,
		     const uint32_t *owners);

/* Cell i of a batch. */
const struct lat_rmid_cell *slots__cell(const struct lat_rmid_batch *batch, uint32_t i);

/* Has everything that the CPU did before then been added? True if it is offline. */
bool slots__reaches(const struct slots *slots, unsigned int cpu, uint64_t time_ns);

/*
 * The open span of a CPU began at since_ns and lasts at least until now_ns. Its later record does
 * not add that time again. Does nothing if earlier records are still missing. The counters of such
 * a slot are unknown.
 */
int slots__extend(struct slots *slots, unsigned int cpu, uint32_t process, uint64_t since_ns,
		  uint64_t now_ns);

/* Adds a reading of a monitoring counter that has a value. 0 or -ENOMEM. */
int slots__add_reading(struct slots *slots, const struct latscope_rmid_read *read,
		       uint32_t process);

/* No more records from before then will come: time without a record is missing. */
int slots__give_up(struct slots *slots, uint64_t until_ns);

/* Marks the slots since the last returned one: their attribution may be wrong. */
void slots__doubt(struct slots *slots, uint64_t until_ns);

/* All slots before this time were returned. */
uint64_t slots__settled_ns(const struct slots *slots);

/* The oldest slot if it is complete, valid until the next call of a slots function; else NULL. */
const struct slot *slots__next(struct slots *slots);

/*
 * The oldest slot that began but is incomplete, or NULL: after slots__give_up(), the last of the
 * window.
 */
const struct slot *slots__rest(struct slots *slots);

#endif
