// SPDX-License-Identifier: BSD-2-Clause
/*
 * turns ROUNDS: three processes that take turns on one CPU, several times within a millisecond.
 *
 * They wake each other in a fixed order, in which a process follows the one before last, or one
 * that has not run for longer, or another thread of the same process. Each works for a while of
 * its own, so that time or switches which go to another one of them show.
 *
 * Prints a line for each process, by the scheduler's account from fork to the end of its work:
 * pid=, ran_ns=, and switches=, how often its threads got a CPU, which is how often they lost it.
 */
#include <linux/futex.h>

#include "reference.h"

#define PROCESSES 3
#define USEC 1000ULL

/* A task of the order; two of process 2, its second thread in lower case. */
enum task { A, B, C, c, TASKS };

static const enum task order[] = { A, B, A, C, c, A, C, c, B, C, B, A, B, C, c, B, c, A };
static const uint64_t works_ns[TASKS] = { 5 * USEC, 12 * USEC, 25 * USEC, 25 * USEC };

#define TURNS (sizeof(order) / sizeof(order[0]))

static struct shared {
	atomic_uint turn[TASKS]; /* 1: it is the turn of this task */
	atomic_int tids[TASKS];
	uint64_t rounds;
} * shared;

static void futex(atomic_uint *at, int op, unsigned int value)
{
	syscall(SYS_futex, at, op, value, NULL, NULL, 0);
}

static void give_turn(enum task to)
{
	atomic_store(&shared->turn[to], 1);
	futex(&shared->turn[to], FUTEX_WAKE, 1);
}

static void await_turn(enum task own)
{
	while (!atomic_exchange(&shared->turn[own], 0))
		futex(&shared->turn[own], FUTEX_WAIT, 0);
}

/* The task of the first turn begins when the program gives it, and the last one gives no more. */
static void take_turns(enum task own)
{
	for (uint64_t round = 0; round < shared->rounds; round++) {
		for (size_t i = 0; i < TURNS; i++) {
			if (order[i] != own)
				continue;
			await_turn(own);
			load__spin(works_ns[own]);
			if (i + 1 < TURNS || round + 1 < shared->rounds)
				give_turn(order[(i + 1) % TURNS]);
		}
	}
}

static void *run(void *task)
{
	enum task own = (enum task)(uintptr_t)task;

	atomic_store(&shared->tids[own], gettid());
	take_turns(own);
	reference_sched__park_end();
}

static pid_t start(enum task first)
{
	pid_t pid = reference_fork();

	if (pid)
		return pid;
	load__pin(load__cpu_from_end(0));
	if (first == C)
		reference_thread(run, (void *)(uintptr_t)c);
	run((void *)(uintptr_t)first);
	_exit(REFERENCE_FAILED);
}

static struct reference_sched account(pid_t pid, enum task task)
{
	return reference_parked(pid, atomic_load(&shared->tids[task]), REFERENCE_PARK_END);
}

static void report(pid_t pid, enum task first)
{
	struct reference_sched sched = account(pid, first), other = {};

	if (first == C)
		other = account(pid, c);
	printf("pid=%d ran_ns=%lu switches=%lu\n", pid, sched.ran_ns + other.ran_ns,
	       sched.pcount + other.pcount);
}

int main(int argc, char **argv)
{
	pid_t pids[PROCESSES];

	reference_usage(argc == 2, "turns ROUNDS");
	shared = reference_share(sizeof(*shared));
	shared->rounds = reference_number(argv[1], "ROUNDS", 1, 1000000);
	for (enum task task = A; task < PROCESSES; task++)
		pids[task] = start(task);
	for (enum task task = A; task < TASKS; task++)
		reference_await(&shared->tids[task]);
	give_turn(order[0]);
	/* They take that long at least. Until then it does not look, which would disturb them. */
	load__sleep(shared->rounds * 400 * USEC);
	for (enum task task = A; task < PROCESSES; task++)
		report(pids[task], task);
	for (enum task task = A; task < PROCESSES; task++)
		reference_end(pids[task]);
	return 0;
}
