// SPDX-License-Identifier: BSD-2-Clause
/*
 * multitude THREADS VICTIMS SWITCHES: threads that all want a CPU, and give it up after 5 us each
 * time, until that has happened so many times. The first ones are called "victim", the others "m"
 * and their ID.
 */
#include <limits.h>

#include "reference.h"

#define STACK (64 << 10)
#define TURN_NS 5000

static atomic_ulong left; /* switches to come */
static pthread_barrier_t all_there;

static void *take_turns(void *name)
{
	char own[16];
	uint64_t end;

	snprintf(own, sizeof(own), "m%d", gettid());
	prctl(PR_SET_NAME, name ? name : own);
	pthread_barrier_wait(&all_there);
	while (atomic_fetch_sub(&left, 1) - 1 < ULONG_MAX / 2) {
		end = clock__now_ns() + TURN_NS;
		while (clock__now_ns() < end)
			;
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char victim[] = "victim";
	unsigned long threads, victims;
	pthread_attr_t small;
	pthread_t *all;
	int err = 0;

	reference_usage(argc == 4, "multitude THREADS VICTIMS SWITCHES");
	threads = reference_number(argv[1], "THREADS", 1, 100000);
	victims = reference_number(argv[2], "VICTIMS", 0, threads);
	atomic_store(&left, reference_number(argv[3], "SWITCHES", 1, 1UL << 40));
	all = calloc(threads, sizeof(*all));
	pthread_barrier_init(&all_there, NULL, (unsigned int)threads + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	for (unsigned long i = 0; all && !err && i < threads; i++)
		err = pthread_create(&all[i], &small, take_turns, i < victims ? victim : NULL);
	reference_need(!err && all, "cannot make %lu threads: %s", threads, strerror(err));
	pthread_barrier_wait(&all_there);
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	free(all);
	return 0;
}
