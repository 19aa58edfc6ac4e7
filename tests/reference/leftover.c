// SPDX-License-Identifier: BSD-2-Clause
/*
 * leftover [-w] ROUNDS: page faults of which perf events may show the end but not the start, while
 * the start of an earlier one is left.
 *
 * In each round a thread writes to a page that it may not write to: that fault has no end event.
 * Then threads on all CPUs walk a hash map, see walk.h: as long as they do, the kernel runs no
 * program of a perf event there. The thread wakes up, preempts one of them if the kernel preempts
 * in system calls, and writes to a page of userfaultfd(2). That is filled in once the walks have
 * ended. So the end of its fault is shown after the start of the one that failed.
 *
 * Reference: rounds=, how many of each.
 */
#include <setjmp.h>

#include "walk.h"

static atomic_bool walking, is_over;
static atomic_int walks; /* that are under way */
static struct reference_uffd uffd;
static volatile char *forbidden;
static pthread_barrier_t round_begins;
static sigjmp_buf after_failure;

static void *walk(void *cpu)
{
	load__pin((int)(intptr_t)cpu);
	for (; !is_over; usleep(500)) {
		atomic_fetch_add(&walks, 1);
		while (walking)
			walk_once();
		atomic_fetch_sub(&walks, 1);
	}
	return NULL;
}

static void fail(int signal)
{
	siglongjmp(after_failure, 1);
}

static void write_to_forbidden(void)
{
	if (!sigsetjmp(after_failure, 1))
		*forbidden = 1;
}

static void *make_faults(void *unused)
{
	for (size_t i = 0; i < uffd.pages; i++) {
		pthread_barrier_wait(&round_begins);
		write_to_forbidden();
		walking = true;
		usleep(5000);
		load__touch(uffd.map + i * load__page(), 1, false);
	}
	return NULL;
}

static void answer(void)
{
	uint64_t address = reference_await_fault(&uffd);

	walking = false;
	while (atomic_load(&walks))
		usleep(100);
	reference_check(reference_uffd__fill(&uffd, address), uffd.why);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	argv = reference_arguments(argc, argv, 1, "leftover [-w] ROUNDS");
	uffd.pages = reference_number(argv[0], "ROUNDS", 1, 1000);
	walk_open();
	reference_check(reference_uffd__open(&uffd), uffd.why);
	pthread_barrier_init(&round_begins, NULL, 2);
	signal(SIGSEGV, fail);
	forbidden = mmap(NULL, load__page(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	thread = reference_thread(make_faults, NULL);
	walk_start(walk);
	reference_check(reference__lock(uffd.why), uffd.why);
	reference_check(reference_uffd__map(&uffd), uffd.why);
	reference_wait("ready");
	for (size_t i = 0; i < uffd.pages; i++) {
		pthread_barrier_wait(&round_begins);
		answer();
	}
	is_over = true;
	pthread_join(thread, NULL);
	walk_join();
	printf("rounds=%zu\n", uffd.pages);
	reference_wait("done");
	return 0;
}
