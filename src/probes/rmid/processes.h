/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All processes of the recording, each with a small number that indexes arrays; and which process
 * had which RMID when. Times: CLOCK_MONOTONIC, ns.
 *
 * Numbers of ended processes are reused only after processes__forget().
 */
#ifndef LATSCOPE_PROBES_RMID_PROCESSES_H
#define LATSCOPE_PROBES_RMID_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <latscope/rmid_record.h>

/* Numbers that stand for no single process; listings start with them, in this order. */
enum {
	PROCESSES_IDLE, /* no process */
	PROCESSES_KERNEL, /* kernel threads, where they are not separated */
	PROCESSES_WAITING, /* all processes for which the kernel module had no RMID */
	PROCESSES_UNKNOWN, /* an RMID without a known owner */
	PROCESSES_OFFLINE, /* the CPU was offline */
	PROCESSES_UNSAMPLED, /* the kernel module does not sample the CPU: it is isolated */
	PROCESSES_SPECIAL,
};

struct process {
	uint32_t number; /* in order of appearance, from 1 on; never used again */
	uint32_t tgid; /* 0: a special number, or unused */
	uint64_t born_ns; /* CLOCK_BOOTTIME */
	uint64_t ended_ns; /* 0: alive, as far as known */
	uint32_t rmid; /* 0: none */
	uint64_t rmid_since_ns;
	uint64_t rmid_until_ns; /* it was passed on then; 0: it was not */
	uint64_t used_ns; /* CPU time; that of long ago counts less */
	uint64_t awaits_ns; /* it found no RMID, and waits for one since then; 0: it never did */
	uint32_t next; /* next with the same hash, or next free; 0: none */
	char comm[RMID_COMM_LEN]; /* from the kernel; empty: unknown */
};

struct processes;

int processes__new(struct processes **processes); /* -ENOMEM */
void processes__free(struct processes *processes);

/* Upper bound of all numbers. A number in use has a tgid, or is below PROCESSES_SPECIAL. */
uint32_t processes__limit(const struct processes *processes);
const struct process *processes__at(const struct processes *processes, uint32_t index);

/* The number of this process, added if it is new; UINT32_MAX: no memory. */
uint32_t processes__find(struct processes *processes, uint32_t tgid, uint64_t born_ns);

/* The number if the process is known; else 0. */
uint32_t processes__look(const struct processes *processes, uint32_t tgid, uint64_t born_ns);

void processes__name(struct processes *processes, uint32_t index, const char *comm);
/*
 * Names a process without a name from /proc: its record was lost, or the kernel's iterator skipped
 * it, as that of 6.18 skips process 1. By now it may be another process with that number, as with
 * any name from /proc.
 */
void processes__name_by_proc(struct processes *processes, uint32_t index);
void processes__end(struct processes *processes, uint32_t index, uint64_t time_ns);

/* The process ran on a CPU at that time: an earlier end is moved to it. */
void processes__ran(struct processes *processes, uint32_t index, uint64_t time_ns);

/* Records of the kernel module: alloc or existing, and free. */
void processes__give_rmid(struct processes *processes, uint32_t rmid, uint32_t index,
			  uint64_t since_ns);
/* The process found no free RMID. */
void processes__await_rmid(struct processes *processes, uint32_t index, uint64_t since_ns);
/* The process lives, and another one gets its RMID. */
void processes__yield_rmid(struct processes *processes, uint32_t rmid, uint64_t time_ns);

/* CPU time of a process that was found by its number. */
void processes__use(struct processes *processes, uint32_t index, uint64_t cpu_ns);

/* Halves the CPU time of all that was counted. */
void processes__age(struct processes *processes);
void processes__take_rmid(struct processes *processes, uint32_t rmid, uint64_t time_ns);

/*
 * Did it have an RMID, or wait for one, before time_ns? Then *rmid is the RMID that it had last, 0
 * while it waits. False: unknown.
 */
bool processes__rmid_before(const struct process *process, uint64_t time_ns, uint32_t *rmid);

/* The owner of the RMID in a span that ended then; or PROCESSES_UNKNOWN. */
uint32_t processes__owner(const struct processes *processes, uint32_t rmid, uint64_t time_ns);

/* No more spans follow of processes that ended before then: their numbers become free. */
void processes__forget(struct processes *processes, uint64_t before_ns);

#endif
