// SPDX-License-Identifier: BSD-2-Clause
#include "opening.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "bpf_probe.h"

enum { ACCOUNTS, HOSTS, LAST };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void opening__end_turn(void)
{
	pthread_mutex_unlock(&turn);
}

void opening__begin_turn(void)
{
	pthread_mutex_lock(&turn);
}

static void open_once(struct opening *opening, char why[RUN_TEXT])
{
	why[0] = '\0';
	opening->err = opening->ops->open(&opening->probe, opening->ops, &opening->request, why);
	if (opening->err)
		opening->probe = NULL;
}

static void open_in_turn(struct opening *opening)
{
	const struct lat_config *config = opening->request.config;
	char why[RUN_TEXT];

	open_once(opening, opening->why);
	if (!opening->err || opening->err == -ENOMEM || !opening->why_can_go || !config->why)
		return;
	opening->plain = *config;
	opening->plain.why = 0;
	opening->request.config = &opening->plain;
	open_once(opening, why);
	if (opening->err)
		strcpy(opening->why, why);
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

/* See account_host.h. Those with an order are opened in this thread. */
static unsigned int order_of(const struct probe_ops *ops)
{
	if (ops->accounts)
		return ACCOUNTS;
	return ops->bpf && ops->bpf->hosts_account ? HOSTS : LAST;
}

void opening__all(struct opening openings[], unsigned int nr)
{
	bool started[RUN_PROBES] = { 0 };
	pthread_t threads[RUN_PROBES];

	/* An arena of each thread would keep the memory that libbpf needs for a moment. */
	mallopt(M_ARENA_MAX, 1);
	opening__begin_turn();
	for (unsigned int i = 0; nr > 1 && i < nr; i++)
		started[i] = openings[i].ops->bpf && order_of(openings[i].ops) == LAST &&
			     start(&threads[i], &openings[i]);
	for (unsigned int order = ACCOUNTS; order <= LAST; order++)
		for (unsigned int i = 0; i < nr; i++)
			if (!started[i] && order_of(openings[i].ops) == order)
				open_in_turn(&openings[i]);
	opening__end_turn();
	for (unsigned int i = 0; i < nr; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}
