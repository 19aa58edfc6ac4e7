/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RMIDs without the kernel module: its allocator (kmod/rmid/book.h), fed with the records of tasks
 * that begin, call exec and end. The records come in the order in which the kernel wrote them, and
 * their times count, not those at which they are read.
 */
#ifndef LATSCOPE_PROBES_RMID_EMULATION_H
#define LATSCOPE_PROBES_RMID_EMULATION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <latscope/rmid_record.h>

/* Room for so many processes at once, or for twice the tasks of now; others are untracked. */
#define EMULATION_PROCESSES 4096
#define EMULATION_MOST 65536

struct emulation;

/*
 * What the kernel module reports by its tracepoints, and who waits (RMID_AWAITED, with RMID 0).
 * `runner` is the task in which it happened. Returns 0 or -errno.
 */
typedef int emulation_told(void *context, const struct lat_rmid_owner *record, uint32_t runner);

/* How much a process should have an RMID; negative: it gets none. */
typedef int64_t emulation_weight(void *context, uint32_t tgid, uint64_t start_ns, const char *comm);

/* As many RMIDs as the machine has, up to LATSCOPE_RMID_DEFAULT; that many if it has none. */
uint32_t emulation__rmids(void);

/* 0 or -ENOMEM. */
int emulation__new(struct emulation **emulation, uint32_t rmids, emulation_told *told,
		   void *context);
void emulation__free(struct emulation *emulation);

/* Takes a record. 0, or what `told` returned. */
int emulation__take(struct emulation *emulation, const struct lat_rmid_task *task);

/*
 * RMIDs go to the processes with the largest weights instead of to those that have waited longest.
 * Before the first emulation__choose(), nobody gets one; afterwards a new process does if one is
 * free.
 */
void emulation__weigh(struct emulation *emulation, emulation_weight *weight);

/*
 * Gives free RMIDs, and takes them from processes that live: one that waits must have `least` more
 * than twice the weight of the one that has it. It gets it the next time, after the limbo.
 */
int emulation__choose(struct emulation *emulation, int64_t least, uint64_t now_ns);

/* All records up to then were taken: serves those that wait. */
int emulation__serve(struct emulation *emulation, uint64_t now_ns);

/*
 * Records may be missing: ends the processes that /proc does not have, and did not have at the last
 * check. In between, the records of those that ended just now are taken. `root` is a prefix of
 * /proc, "" for this machine.
 */
int emulation__check(struct emulation *emulation, const char *root, uint64_t now_ns);

/* At the end: notes who is gone for the check that follows, after the last records. */
void emulation__look(struct emulation *emulation, const char *root);

/* A record of after the end: who ends by then lived at the end. */
void emulation__ended_later(struct emulation *emulation, const struct lat_rmid_task *task);

/* Did the last check find some that the next one may end? */
bool emulation__has_gone(const struct emulation *emulation);

struct emulation_state {
	uint32_t rmids;
	uint32_t assigned, waiting;
	uint32_t most; /* assigned at once */
	uint64_t refused; /* times that no RMID had been free for long enough */
	uint64_t untracked, miscounted;
	uint64_t yielded; /* RMIDs that passed to another process while their owner lived */
};
struct emulation_state emulation__state(const struct emulation *emulation);

/*
 * The text of /proc/latscope_rmid, see include/uapi/latscope/rmid.h, with one more line: `missed`
 * is how many switches and records were missed, any of which may have been of an end.
 */
void emulation__dump(const struct emulation *emulation, uint64_t missed, FILE *out);

#endif
