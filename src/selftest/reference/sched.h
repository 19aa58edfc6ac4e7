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

#include <stdatomic.h>
#include <sys/syscall.h>

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

/*
 * Run-queue waits of a known length. Two threads are pinned on a CPU. The waiter always wants to
 * run. The hog (SCHED_FIFO) sleeps twice its time, then runs for it, again and again: each time the
 * waiter is preempted and waits for as long and a little. Both are parked (sched.h) before and
 * after. An outside task of higher priority (hog_preempted) or a machine that stops makes single
 * waits longer, both in the kernel's account and in a recorder's. While the waiter waits for
 * others, the hog may run again, without a wait of its own: `joined`. So the waits of at least
 * about run_ns are count - joined or more.
 *
 * The hog takes a third of the CPU and at most 300 ms at once, so that neither the limit on
 * real-time tasks (950 ms a second) nor the server that runs fair tasks in their stead (Linux
 * 6.12) steps in.
 */
#define REFERENCE_HOG_PRIORITY 50
#define REFERENCE_HOG_MAX_NS (300 * NSEC_PER_MSEC)

enum { REFERENCE_WAITER, REFERENCE_HOG, REFERENCE_HOG_TASKS };

struct reference_hog {
	int cpu;
	uint64_t run_ns; /* at most REFERENCE_HOG_MAX_NS */
	int waiter_priority; /* SCHED_FIFO; less than REFERENCE_HOG_PRIORITY; 0: SCHED_OTHER */
	unsigned int count;
	int start[2]; /* both threads park on it */
	int ended[2]; /* a byte from each as it ends */
	atomic_bool stop;
	atomic_ulong turns; /* of the waiter's loop: it has a CPU while they grow */
	atomic_int ready; /* threads that are parked or about to, or failed */
	atomic_int err;

	pid_t tids[REFERENCE_HOG_TASKS];
	struct reference_sched before[REFERENCE_HOG_TASKS], after[REFERENCE_HOG_TASKS];
	struct reference_span
		gaps; /* interruptions of more than half of run_ns that the waiter saw */
	struct reference_span runs; /* of the hog, by its clock */
	unsigned int joined; /* runs before which the waiter had no turn since the one before */
	long hog_preempted;
	char why[REFERENCE_WHY];
};

int reference_hog__prepare(struct reference_hog *hog);
int reference_hog__run(struct reference_hog *hog);

/*
 * Two threads on one CPU that wake each other by turns: each turn is two switches and two short
 * waits for the CPU. How long a number of turns takes tells what a switch costs.
 */
struct reference_pingpong {
	int cpu;
	unsigned int count;
	struct pingpong pair;
	pthread_t thread;

	uint64_t elapsed_ns;
	char why[REFERENCE_WHY];
};

int reference_pingpong__prepare(struct reference_pingpong *pingpong);
int reference_pingpong__run(struct reference_pingpong *pingpong);

#endif
