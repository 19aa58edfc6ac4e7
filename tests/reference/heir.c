// SPDX-License-Identifier: BSD-2-Clause
/*
 * heir [-w] ROUNDS: waits for a CPU of a thread that gets another ID.
 *
 * A thread that is not the first one of its process sleeps ROUNDS times, then executes a program:
 * by that it gets the ID of the process. Then it sleeps ROUNDS times again.
 *
 * Reference: before= and after=, how often the thread has got a CPU, by schedstat, at ready=1,
 * where it is parked, and at done=1. A few waits more follow until the end of the window.
 */

#include "reference.h"

static char *program, *rounds_text;
static uint64_t rounds;
static int start[2];
static atomic_int tid;

static void sleep_often(void)
{
	for (uint64_t i = 0; i < rounds; i++)
		load__sleep(NSEC_PER_MSEC);
}

static void *execute(void *unused)
{
	char *const arguments[] = { program, rounds_text, "after", NULL };

	sleep_often();
	atomic_store(&tid, gettid());
	reference_sched__park_start(start[0]);
	execv("/proc/self/exe", arguments);
	reference_die(REFERENCE_FAILED, "cannot execute: %m");
}

/* Runs after the exec: the only thread has the ID of the process, and its own account. */
static int go_on(void)
{
	struct reference_sched sched;

	sleep_often();
	reference_need(!reference_sched__read(getpid(), getpid(), &sched),
		       "this kernel has no schedstat");
	printf("after=%lu\ndone=1\n", sched.pcount);
	fflush(stdout);
	reference_read_line();
	return 0;
}

int main(int argc, char **argv)
{
	bool after = argc == 3 && !strcmp(argv[2], "after");
	struct reference_sched sched;
	pthread_t thread;

	program = argv[0];
	rounds_text = after ? argv[1] : *reference_arguments(argc, argv, 1, "heir [-w] ROUNDS");
	rounds = reference_number(rounds_text, "ROUNDS", 1, 100000);
	if (after)
		return go_on();
	reference_pipe(start);
	thread = reference_thread(execute, NULL);
	sched = reference_parked(getpid(), reference_await(&tid), REFERENCE_PARK_START);
	printf("before=%lu\n", sched.pcount);
	reference_open();
	close(start[1]);
	pthread_join(thread, NULL);
	return REFERENCE_FAILED; /* the program that is executed ends instead */
}
