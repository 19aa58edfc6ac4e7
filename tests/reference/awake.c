// SPDX-License-Identifier: BSD-2-Clause
/*
 * awake [-w] ROUNDS: wakeups of a task that does not sleep yet.
 *
 * The waiter goes to sleep ROUNDS times, and a thread on another CPU wakes it up all the time, so
 * often while it still runs. Then it goes on, works for 2 ms, and lets a third thread have its CPU:
 * what it waits for that CPU is no answer to the wakeup.
 *
 * waiter_tid= is said before ready=1. slept= is in how many rounds the waiter left its CPU to
 * sleep, forgotten= in how many it was woken up and did not, by its own account of voluntary
 * switches.
 */
#include <linux/futex.h>

#include "reference.h"

#define WORK_NS (2 * NSEC_PER_MSEC)
#define FUTEXES 16

static int cpus[2];
static uint32_t words[FUTEXES]; /* all always 0; wakeups are at the first */
static unsigned long rounds, slept, forgotten;
static pthread_barrier_t go;
static atomic_bool ended;
static atomic_int waiter_tid;

/* The kernel adds the waiter to one futex after the other. The first wakes it up meanwhile. */
static void sleep_once(struct futex_waitv *waits)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	reference_need(syscall(SYS_futex_waitv, waits, FUTEXES, 0, NULL, 0) >= 0 || errno == EINTR,
		       "no wait for several futexes: %m");
	getrusage(RUSAGE_THREAD, &after);
	if (after.ru_nvcsw != before.ru_nvcsw)
		slept++;
	else
		forgotten++;
}

static void *wait_for_wakeups(void *unused)
{
	struct futex_waitv waits[FUTEXES] = {};

	for (int i = 0; i < FUTEXES; i++) {
		waits[i].uaddr = (uintptr_t)&words[i];
		waits[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
	}
	load__pin(cpus[0]);
	atomic_store(&waiter_tid, gettid());
	pthread_barrier_wait(&go);
	for (unsigned long i = 0; i < rounds; i++) {
		sleep_once(waits);
		load__spin(WORK_NS);
		sched_yield();
	}
	atomic_store(&ended, true);
	return NULL;
}

static void *want_its_cpu(void *unused)
{
	load__pin(cpus[0]);
	pthread_barrier_wait(&go);
	while (!atomic_load(&ended))
		sched_yield();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	argv = reference_arguments(argc, argv, 1, "awake [-w] ROUNDS");
	rounds = reference_number(argv[0], "ROUNDS", 1, 1000000);
	reference_need_cpus(2);
	cpus[0] = reference_cpu(0);
	cpus[1] = reference_cpu(1);
	load__pin(cpus[1]);
	reference_sched__outweigh();
	pthread_barrier_init(&go, NULL, 3);
	threads[0] = reference_thread(wait_for_wakeups, NULL);
	threads[1] = reference_thread(want_its_cpu, NULL);
	printf("waiter_tid=%d\n", reference_await(&waiter_tid));
	reference_open();
	pthread_barrier_wait(&go);
	while (!atomic_load(&ended))
		syscall(SYS_futex, words, FUTEX_WAKE_PRIVATE, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("slept=%lu forgotten=%lu\n", slept, forgotten);
	reference_close();
	return 0;
}
