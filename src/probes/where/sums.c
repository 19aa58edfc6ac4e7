// SPDX-License-Identifier: BSD-2-Clause
#include "sums.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

static int compare(const void *left, const void *right)
{
	const struct where_key *a = &((const struct where_one *)left)->key;
	const struct where_key *b = &((const struct where_one *)right)->key;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Finds the sums of a key, or adds them. NULL: no memory. */
static struct where_one *one_of(struct where_sums *sums, const struct where_key *key)
{
	struct where_one *one = calloc(1, sizeof(*one)), **found;

	if (!one)
		return NULL;
	one->key = (struct where_key){ .start = key->start, .id = key->id };
	found = tsearch(one, &sums->tree, compare);
	if (found && *found != one) {
		free(one);
		return *found;
	}
	if (!found || vec__append(&sums->ones, &sums->nr, &one, sizeof(one))) {
		if (found)
			tdelete(one, &sums->tree, compare);
		free(one);
		return NULL;
	}
	one->is_new = true;
	return one;
}

static void add_witness(struct where_witness *to, const struct where_witness *from)
{
	to->run_ns += from->run_ns;
	to->queue_ns += from->queue_ns;
	to->user_ns += from->user_ns;
	to->system_ns += from->system_ns;
}

/* Finds a reason, or adds it. NULL: no memory. */
static struct where_reason *reason_of(struct where_one *one, uint32_t what)
{
	const struct where_reason fresh = { .what = what };

	for (size_t i = 0; i < one->nr_reasons; i++)
		if (one->reasons[i].what == what)
			return &one->reasons[i];
	if (vec__append(&one->reasons, &one->nr_reasons, &fresh, sizeof(fresh)))
		return NULL;
	return &one->reasons[one->nr_reasons - 1];
}

static int add_reason(struct where_one *one, uint32_t what, uint64_t times, uint64_t ns)
{
	struct where_reason *reason = reason_of(one, what);

	if (!reason)
		return -ENOMEM;
	reason->times += times;
	reason->ns += ns;
	return 0;
}

void sums__begin(struct where_sums *sums)
{
	sums->without = sums->without_ns = 0;
	for (size_t i = 0; i < sums->nr; i++) {
		struct where_one *one = sums->ones[i];

		one->living = 0;
		one->now = one->gone;
		for (size_t j = 0; j < one->nr_reasons; j++) {
			one->reasons[j].times = one->reasons[j].times_gone;
			one->reasons[j].ns = one->reasons[j].ns_gone;
		}
	}
}

static uint64_t in_window(const struct where_window *window, uint64_t from, uint64_t to)
{
	if (from < window->opened_ns)
		from = window->opened_ns;
	if (to > window->closed_ns)
		to = window->closed_ns;
	return to > from ? to - from : 0;
}

static bool is_sleep(unsigned int state)
{
	return state != WHERE_CPU && state != WHERE_READY && state != WHERE_UNKNOWN;
}

/* The parts that have ended, and the one that has not. */
static int add_account(struct where_one *one, const struct where_window *window,
		       const struct where_report *report)
{
	const struct where_thread *account = &report->account;
	unsigned int state = account->state < WHERE_STATES ? account->state : WHERE_UNKNOWN;
	uint64_t until_ns = account->woken_ns ? account->woken_ns : report->at_ns;
	uint64_t open_ns = in_window(window, account->since_ns, until_ns);
	int err = 0;

	for (int i = 0; i < WHERE_STATES; i++)
		one->now.ns[i] += account->ns[i];
	one->now.ns[state] += open_ns;
	one->now.ns[WHERE_READY] += in_window(window, until_ns, report->at_ns);
	for (int i = 0; !err && i < WHERE_SLEEPS && account->sleeps[i].what; i++)
		err = add_reason(one, account->sleeps[i].what, account->sleeps[i].times,
				 account->sleeps[i].ns);
	if (!err && is_sleep(state) && open_ns)
		err = add_reason(one, WHERE_WHAT(state, account->call), 1, open_ns);
	return err;
}

int sums__add_thread(struct where_sums *sums, const struct where_window *window,
		     const struct where_report *report)
{
	const struct where_thread *account = &report->account;
	struct where_one *one = one_of(sums, &report->of);
	uint64_t begin_ns = report->start_ns, life_ns;

	if (!one)
		return -ENOMEM;
	one->living++;
	one->tgid = report->tgid;
	one->cgroup = report->cgroup;
	one->kernel = report->flags & WHERE_KERNEL;
	memcpy(one->comm, report->comm, sizeof(one->comm));
	sums->torn += !!(report->flags & WHERE_TORN);
	if (account->task && account->inherits)
		begin_ns = account->begin_ns;
	life_ns = in_window(window, begin_ns, report->at_ns);
	one->now.life_ns += life_ns;
	add_witness(&one->now.kernel, &report->kernel);
	if (account->task)
		return add_account(one, window, report);
	one->now.ns[WHERE_UNKNOWN] += life_ns;
	sums->without++;
	sums->without_ns += life_ns;
	return 0;
}

int sums__add_ended(struct where_sums *sums, const struct where_key *key,
		    const struct where_ended *ended)
{
	struct where_one *one = one_of(sums, key);
	struct where_sum *const both[] = { &one->gone, &one->now };

	if (!one)
		return -ENOMEM;
	if (!one->living) {
		one->tgid = (uint32_t)ended->tgid;
		one->cgroup = ended->cgroup;
		memcpy(one->comm, ended->comm, sizeof(one->comm));
	}
	one->ended += ended->threads;
	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		for (int state = 0; state < WHERE_STATES; state++)
			both[i]->ns[state] += ended->ns[state];
		both[i]->life_ns += ended->life_ns;
		add_witness(&both[i]->kernel, &ended->kernel);
	}
	return 0;
}

int sums__add_lost(struct where_sums *sums, uint64_t threads, uint64_t life_ns)
{
	const struct where_key key = { 0 };
	struct where_ended lost = { .threads = threads, .life_ns = life_ns, .comm = "(other)" };

	lost.ns[WHERE_UNKNOWN] = life_ns;
	return threads ? sums__add_ended(sums, &key, &lost) : 0;
}

int sums__add_sleep(struct where_sums *sums, const struct where_key *key,
		    const struct where_sleep *sleep)
{
	struct where_one *one = one_of(sums, key);
	struct where_reason *reason = one ? reason_of(one, sleep->what) : NULL;

	if (!reason)
		return -ENOMEM;
	reason->times_gone += sleep->times;
	reason->ns_gone += sleep->ns;
	return add_reason(one, sleep->what, sleep->times, sleep->ns);
}

static void free_one(struct where_one *one)
{
	free(one->reasons);
	free(one);
}

void sums__keep(struct where_sums *sums)
{
	size_t kept = 0;

	for (size_t i = 0; i < sums->nr; i++) {
		struct where_one *one = sums->ones[i];

		if (!one->living) {
			tdelete(one, &sums->tree, compare);
			free_one(one);
			continue;
		}
		one->before = one->now;
		one->ended_before = one->ended;
		one->is_new = false;
		for (size_t j = 0; j < one->nr_reasons; j++) {
			one->reasons[j].times_before = one->reasons[j].times;
			one->reasons[j].ns_before = one->reasons[j].ns;
		}
		sums->ones[kept++] = one;
	}
	sums->nr = kept;
}

void sums__free(struct where_sums *sums)
{
	for (size_t i = 0; i < sums->nr; i++) {
		tdelete(sums->ones[i], &sums->tree, compare);
		free_one(sums->ones[i]);
	}
	free(sums->ones);
	*sums = (struct where_sums){ 0 };
}
