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

/* As many RMIDs as the machine has, up to LATSCOPE_RMID_DEFAULT; that many if it has none. */
uint32_t emulation__rmids(void);

/* 0 or -ENOMEM. */
int emulation__new(struct emulation **emulation, uint32_t rmids, emulation_told *told,
		   void *context);
void emulation__free(struct emulation *emulation);

/* Takes a record. 0, or what `told` returned. */
int emulation__take(struct emulation *emulation, const struct lat_rmid_task *task);

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
};
struct emulation_state emulation__state(const struct emulation *emulation);

/*
 * The text of /proc/latscope_rmid, see include/uapi/latscope/rmid.h, with one more line: `missed`
 * is how many switches and records were missed, any of which may have been of an end.
 */
void emulation__dump(const struct emulation *emulation, uint64_t missed, FILE *out);

#endif
