/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that are or were there, each with a small number of its own that indexes arrays,
 * as an RMID would; and who had which RMID when. Times: CLOCK_MONOTONIC, ns.
 *
 * Numbers of processes that are gone are used again, but not before processes__forget().
 */
#ifndef LATSCOPE_PROBES_RMID_PROCESSES_H
#define LATSCOPE_PROBES_RMID_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <latscope/rmid_record.h>

/* Numbers that are not of one process; in this order they stand first in every listing. */
enum {
	PROCESSES_IDLE, /* nobody */
	PROCESSES_KERNEL, /* kernel threads, where they are not told apart */
	PROCESSES_WAITING, /* all for which the module had no RMID */
	PROCESSES_UNKNOWN, /* an RMID of which nobody knows whose it was */
	PROCESSES_OFFLINE, /* the CPU was offline */
	PROCESSES_UNSAMPLED, /* the module leaves the CPU alone: it is isolated */
	PROCESSES_SPECIAL,
};

struct process {
	uint32_t number; /* in order of appearance, from 1 on; never used again */
	uint32_t tgid; /* 0: one of the special ones, or not in use */
	uint64_t born_ns; /* CLOCK_BOOTTIME */
	uint64_t ended_ns; /* 0: it lives, as far as is known */
	uint32_t rmid; /* 0: none */
	uint32_t next; /* of the same hash, or of the free ones; 0: none */
	char comm[RMID_COMM_LEN]; /* as the kernel has it; empty: not known */
};

struct processes;

int processes__new(struct processes **processes); /* -ENOMEM */
void processes__free(struct processes *processes);

/* All numbers are below. A number in use has a tgid, or is below PROCESSES_SPECIAL. */
uint32_t processes__limit(const struct processes *processes);
const struct process *processes__at(const struct processes *processes, uint32_t index);

/* The process of that identity, made known if it is new; UINT32_MAX: no memory. */
uint32_t processes__find(struct processes *processes, uint32_t tgid, uint64_t born_ns);

/* The same if it is known already; else 0. */
uint32_t processes__look(const struct processes *processes, uint32_t tgid, uint64_t born_ns);

void processes__name(struct processes *processes, uint32_t index, const char *comm);
/*
 * One of whom no name was heard gets that in /proc: the record was lost, or the kernel's iterator
 * left it out, as that of 6.18 does process 1. It may be another process of that number by now; so
 * may any name in /proc.
 */
void processes__name_by_proc(struct processes *processes, uint32_t index);
void processes__end(struct processes *processes, uint32_t index, uint64_t time_ns);

/* It was on a CPU then: if it was said to have ended before, that was not yet so. */
void processes__ran(struct processes *processes, uint32_t index, uint64_t time_ns);

/* What the module tells: alloc or existing, and free. */
void processes__give_rmid(struct processes *processes, uint32_t rmid, uint32_t index,
			  uint64_t since_ns);
void processes__take_rmid(struct processes *processes, uint32_t rmid, uint64_t time_ns);

/* Who had the RMID in a span that ended then; PROCESSES_UNKNOWN. */
uint32_t processes__owner(const struct processes *processes, uint32_t rmid, uint64_t time_ns);

/* No span will come of what ended before then: such numbers are free for others. */
void processes__forget(struct processes *processes, uint64_t before_ns);

#endif
