/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler's own account of a task, /proc/PID/task/TID/schedstat: time on a CPU, time waited
 * for one (run_delay), times it was given one (pcount). All three count from 0 at fork.
 *
 * run_delay lacks a wait that is open: it grows when the task gets its CPU or moves to another
 * one. So it is read only of tasks that are parked, blocked where nothing but the program itself
 * wakes them. That a task is, and is not merely about to block (it could be preempted on the way,
 * and wait), is told by /proc/PID/task/TID/syscall: the kernel names the system call only of a
 * task that it has found off every run queue, else it says "running". A read of a parked task's
 * schedstat is therefore final until the program wakes it, and a recorder whose window opens and
 * closes while the task is parked has to sum its waits to the difference, to the nanosecond, and
 * count pcount of them.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_SCHED_H
#define LATSCOPE_SELFTEST_REFERENCE_SCHED_H

#include <sys/syscall.h>
#include <sys/types.h>

#include "reference.h"

struct reference_sched {
	uint64_t ran_ns;
	uint64_t run_delay_ns;
	uint64_t pcount;
};

/* Where the tasks park. A zombie is in no system call. */
#define REFERENCE_PARK_START SYS_read
#define REFERENCE_PARK_END SYS_ppoll
#define REFERENCE_PARK_ZOMBIE (-1)

/* Of a task; while it runs, complete only if it is the caller. -EOPNOTSUPP: the kernel has none. */
int reference_sched__read(pid_t pid, pid_t tid, struct reference_sched *sched);
struct reference_sched reference_sched__since(struct reference_sched before,
					      struct reference_sched now);

/* Waits until the task is parked there, and gives its account. */
int reference_sched__parked(pid_t pid, pid_t tid, long where, struct reference_sched *sched,
			    char why[REFERENCE_WHY]);

/* From here on the calling thread, and what it forks, comes before others, as far as it may. */
void reference_sched__outweigh(void);

/* Until something comes, or the pipe is closed, which wakes all who read it. */
void reference_sched__park_start(int fd);
_Noreturn void reference_sched__park_end(void);

#endif
