/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process "victim" that waits for a CPU, and others that make it wait. Each measures by its own
 * clock how long it had the CPU. Everything else on that CPU is outweighed.
 *
 *   one       a process "hog1" always wants the CPU, too
 *   two       "hog1" and "hog2" do, and hog1 gets about three times as much as hog2
 *   crowd     "hog1" does, and REFERENCE_CROWD processes "crowd"
 *   realtime  "hog1" (SCHED_FIFO) has the CPU for 5 ms of every 15
 *   woken     as in realtime; at the start of each turn the hog wakes the victim up, which sleeps
 *             otherwise
 *   idle      nothing else: the victim sleeps, and the CPU is idle until it wakes up
 *   held      the same, but it is called "held"
 *   napping   the victim sleeps for 2 ms again and again; "hog1" always wants the CPU
 *   pingpong  "hog1" and "hog2" wake each other up all the time; the victim gets what they leave
 *             (SCHED_IDLE)
 *   deadline  nothing else: the victim always wants the CPU, but may have it for 5 ms of every 20
 *             (SCHED_DEADLINE)
 *   limited   the victim (SCHED_FIFO) and "hog1" always want the CPU: the kernel keeps a part of
 *             each second for hog1, because real-time tasks have a limit
 *   own       a second thread of the victim always wants the CPU
 *   moved     "hog1" as in realtime; after 2 ms of each turn the victim is bound to another CPU,
 *             and back when the turn is over
 *   churn     "hog1" starts a process "brief" again and again, and waits until it has run for 2 ms
 *   flood     "sender" sends datagrams to its own machine all the time, see flood.h
 *   quota     nothing else: `cgroup` is a directory whose cgroup.procs the victim enters
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_CULPRITS_H
#define LATSCOPE_SELFTEST_REFERENCE_CULPRITS_H

#include <stdatomic.h>

#include "flood.h"
#include "reference.h"

#define REFERENCE_CROWD 80
#define REFERENCE_CULPRITS (2 + REFERENCE_CROWD) /* most processes; the first is the victim */

struct reference_culprits {
	const char *shape;
	int cpu;
	uint64_t duration_ns;
	const char *cgroup;
	bool bystander; /* a process "bystander" of little weight wants another CPU meanwhile */

	unsigned int processes;
	/*
	 * Pipes between the processes: `ready` of the one that starts; it closes it when it has all
	 * that it needs. `go` is closed when the work begins.
	 */
	int ready[2], go[2], done[2], bell[2], ping[2], pong[2];
	int aside; /* the CPU of those that have no part in it */
	_Atomic uint64_t end_ns; /* 0: not yet */
	_Atomic uint64_t turn_ns; /* when the turn of the hog began; 0: it sleeps */
	atomic_int err;

	pid_t pids[REFERENCE_CULPRITS];
	pid_t bystander_pid; /* 0: there is none */
	uint64_t ran_ns[REFERENCE_CULPRITS]; /* since the work began */
	uint64_t all_ns[REFERENCE_CULPRITS]; /* the same, since the process did */
	uint64_t waited_ns; /* by the kernel's account, the victim, for a CPU; 0: it has none */
	uint64_t briefs, briefs_ran_ns; /* with churn; the latter by the kernel's account of them */
	struct reference_flood flood;
	uint64_t elapsed_ns;
	bool has_cpu_ran; /* known: the kernel has /proc/schedstat */
	uint64_t cpu_ran_ns; /* by the scheduler's account, what tasks had of the CPU */
	/*
	 * With moved: how long the victim waited before it was moved, from the start of a turn to
	 * the move, by the clock of the one that moves: of the moves that were over before the turn
	 * was, and of all.
	 */
	uint64_t moved_least_ns, moved_most_ns;
	/* With deadline and limited: how long the victim did not run, by its own clock. */
	uint64_t gaps_ns;
	char why[REFERENCE_WHY];
};

/* The memory must be shared: the processes write to it. */
int reference_culprits__prepare(struct reference_culprits *all);
int reference_culprits__run(struct reference_culprits *all);

#endif
