// SPDX-License-Identifier: BSD-2-Clause
#include "opening.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void opening__end_turn(void)
{
	pthread_mutex_unlock(&turn);
}

void opening__begin_turn(void)
{
	pthread_mutex_lock(&turn);
}

static void open_in_turn(struct opening *opening)
{
	opening->why[0] = '\0';
	opening->err =
		opening->ops->open(&opening->probe, opening->ops, &opening->request, opening->why);
	if (opening->err)
		opening->probe = NULL;
}

static void *run(void *opening)
{
	opening__begin_turn();
	open_in_turn(opening);
	opening__end_turn();
	return NULL;
}

/* Signals are for the thread that waits for them. */
static bool start(pthread_t *thread, struct opening *opening)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, run, opening);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !err;
}

/* Opens the probe whose account others may host: see account_host.h. */
static void open_account(struct opening openings[], unsigned int nr, bool opened[])
{
	for (unsigned int i = 0; i < nr; i++) {
		opened[i] = openings[i].ops->accounts;
		if (opened[i])
			open_in_turn(&openings[i]);
	}
}

/* The last one takes longest, so it goes first, in this thread. */
static unsigned int choose_first(const struct opening openings[], unsigned int nr,
				 const bool opened[])
{
	while (nr > 1 && (opened[nr - 1] || !openings[nr - 1].ops->bpf))
		nr--;
	return nr ? nr - 1 : 0;
}

void opening__all(struct opening openings[], unsigned int nr)
{
	bool started[RUN_PROBES] = { 0 }, opened[RUN_PROBES];
	unsigned int first;
	pthread_t threads[RUN_PROBES];

	/* An arena of each thread would keep the memory that libbpf needs for a moment. */
	mallopt(M_ARENA_MAX, 1);
	opening__begin_turn();
	open_account(openings, nr, opened);
	first = choose_first(openings, nr, opened);
	for (unsigned int i = 0; i < nr; i++)
		if (i != first && !opened[i] && openings[i].ops->bpf)
			started[i] = start(&threads[i], &openings[i]);
	/* The first one, then those without a thread. */
	for (unsigned int n = 0; n < nr; n++) {
		unsigned int i = (first + n) % nr;

		if (!started[i] && !opened[i])
			open_in_turn(&openings[i]);
	}
	opening__end_turn();
	for (unsigned int i = 0; i < nr; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}
