// SPDX-License-Identifier: BSD-2-Clause
/*
 * stuck [-w] never|ends|another: a page fault that is in progress when a recorder attaches.
 *
 * A thread (tid) writes to a page that is registered with userfaultfd(2), and waits for it when the
 * program prints ready=1. At the go:
 *
 *   never    nothing: the fault is in progress as long as the program lives
 *   ends     the page is filled in; the thread has ended by done=1
 *   another  the same, but the thread goes on to a second such page, which is never filled in: at
 *            done=1 it waits in a fault that began after the go
 */

#include "reference.h"

struct stuck {
	struct reference_uffd uffd;
	pthread_barrier_t start;
	size_t touched; /* pages that the thread writes to */
	pid_t tid;
};

static void *write_pages(void *arg)
{
	struct stuck *stuck = arg;

	stuck->tid = gettid();
	pthread_barrier_wait(&stuck->start);
	load__touch(stuck->uffd.map, stuck->touched, false);
	return NULL;
}

/* Until the thread waits in a fault, whose address it returns. */
static uint64_t await_fault(struct stuck *stuck)
{
	uint64_t address = reference_await_fault(&stuck->uffd);

	load__sleep(20 * NSEC_PER_MSEC); /* it has been told before the thread sleeps */
	return address;
}

static void answer(struct stuck *stuck, uint64_t address, pthread_t thread)
{
	reference_check(reference_uffd__fill(&stuck->uffd, address), stuck->uffd.why);
	if (stuck->touched > 1)
		await_fault(stuck);
	else
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const char usage[] = "stuck [-w] never|ends|another";
	struct stuck stuck = { .uffd = { .pages = 2 }, .touched = 1 };
	pthread_t thread;
	uint64_t address;

	argv = reference_arguments(argc, argv, 1, usage);
	if (!strcmp(argv[0], "another"))
		stuck.touched = 2;
	else if (strcmp(argv[0], "never") && strcmp(argv[0], "ends"))
		reference_die(REFERENCE_USAGE, "usage: %s", usage);
	reference_check(reference_uffd__open(&stuck.uffd), stuck.uffd.why);
	pthread_barrier_init(&stuck.start, NULL, 2);
	thread = reference_thread(write_pages, &stuck);
	reference_check(reference__lock(stuck.uffd.why), stuck.uffd.why);
	reference_check(reference_uffd__map(&stuck.uffd), stuck.uffd.why);
	pthread_barrier_wait(&stuck.start);
	address = await_fault(&stuck);
	printf("tid=%d\n", stuck.tid);
	reference_wait("ready");
	if (strcmp(argv[0], "never"))
		answer(&stuck, address, thread);
	reference_wait("done");
	return 0;
}
