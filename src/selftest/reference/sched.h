/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run-queue waits with the scheduler's own account of a task, /proc/PID/task/TID/schedstat: time on
 * a CPU, time waited for one (run_delay), and how often it got one (pcount). All three count from 0
 * at fork.
 *
 * run_delay does not contain a wait in progress: it grows when the task gets its CPU or moves to
 * another one. So schedstat is only read of tasks that are parked, that is blocked where only the
 * program itself wakes them. /proc/PID/task/TID/syscall shows that: the kernel names the system
 * call only of a task that is on no run queue, otherwise it says "running" (the task could be about
 * to block, be preempted on the way, and wait). So what is read of a parked task is final until the
 * program wakes it. A recorder whose window opens and closes while the task is parked must get the
 * same sum, to the nanosecond, and pcount waits.
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
#define REFERENCE_PARK_STOPPED (-2) /* its system call: arm64 has forgotten it then */

/* Complete only of a parked task or of the caller. -EOPNOTSUPP: this kernel has no schedstat. */
int reference_sched__read(pid_t pid, pid_t tid, struct reference_sched *sched);
struct reference_sched reference_sched__since(struct reference_sched before,
					      struct reference_sched now);

/* What tasks had of a CPU so far, by /proc/schedstat. false: this kernel does not tell. */
bool reference_sched__cpu(int cpu, uint64_t *ran_ns);

/* Waits until the task is parked in this system call, and returns its account. */
int reference_sched__parked(pid_t pid, pid_t tid, long where, struct reference_sched *sched,
			    char why[REFERENCE_WHY]);

/*
 * Sets the priority of the calling thread, and of what it forks, as far as permitted; outweigh: to
 * the highest.
 */
void reference_sched__weigh(int nice);
void reference_sched__outweigh(void);

/* Blocks until there is something to read, or the pipe is closed, which wakes all readers. */
void reference_sched__park_start(int fd);
_Noreturn void reference_sched__park_end(void);

/*
 * Run-queue waits of a known duration. Two threads are pinned to a CPU. The waiter always wants to
 * run. The hog (SCHED_FIFO) sleeps for 2 * run_ns, then runs for run_ns, and so on: each time it
 * preempts the waiter, which waits for run_ns and a little more. Both are parked before and after.
 * A task of higher priority (hog_preempted), or a stall of the machine, makes single waits longer,
 * in the kernel's account and in that of a recorder. If the waiter waits for other tasks, the hog
 * may run again without a separate wait: `joined`. So there are at least count - joined waits of
 * about run_ns or more.
 *
 * The hog takes a third of the CPU and at most 300 ms at once. So neither the limit on real-time
 * tasks (950 ms per second) nor the server that runs fair tasks instead (Linux 6.12) interferes.
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
	int ended[2]; /* each writes a byte at its end */
	atomic_bool stop;
	atomic_ulong loops; /* of the waiter: it has a CPU while they grow */
	atomic_int ready; /* threads that are parked, about to park, or failed */
	atomic_int err;

	pid_t tids[REFERENCE_HOG_TASKS];
	struct reference_sched before[REFERENCE_HOG_TASKS], after[REFERENCE_HOG_TASKS];
	struct reference_span gaps; /* of more than run_ns / 2 in the waiter, by its clock */
	struct reference_span runs; /* of the hog, by its clock */
	unsigned int joined; /* runs between which the waiter did not run */
	long hog_preempted;
	char why[REFERENCE_WHY];
};

int reference_hog__prepare(struct reference_hog *hog);
int reference_hog__run(struct reference_hog *hog);

/*
 * Two threads on one CPU wake each other: each round trip is two switches and two short waits for
 * the CPU. The time of many round trips shows what a switch costs.
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
