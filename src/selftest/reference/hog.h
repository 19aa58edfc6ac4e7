/* SPDX-License-Identifier: BSD-2-Clause */
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
#ifndef LATSCOPE_SELFTEST_REFERENCE_HOG_H
#define LATSCOPE_SELFTEST_REFERENCE_HOG_H

#include <stdatomic.h>

#include "sched.h"

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

#endif
