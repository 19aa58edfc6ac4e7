// SPDX-License-Identifier: BSD-2-Clause
#include "sums.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

#define MOST_WAITS 16 /* readings for which the parts of a missed thread are awaited */

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

/* Adds `times` times what `from` has: 1, or -1. */
static void add_sum(struct where_sum *to, const struct where_sum *from, uint64_t times)
{
	for (int i = 0; i < WHERE_STATES; i++)
		to->ns[i] += times * from->ns[i];
	to->life_ns += times * from->life_ns;
	to->kernel.run_ns += times * from->kernel.run_ns;
	to->kernel.queue_ns += times * from->kernel.queue_ns;
	to->kernel.user_ns += times * from->kernel.user_ns;
	to->kernel.system_ns += times * from->kernel.system_ns;
	to->kernel.io_ns += times * from->kernel.io_ns;
	to->kernel.no_io += times * from->kernel.no_io;
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

/* How long the thread has been in the state that has not ended. */
static uint64_t open_ns(const struct where_window *window, const struct where_report *report)
{
	const struct where_thread *account = &report->account;

	return in_window(window, account->since_ns,
			 account->woken_ns ? account->woken_ns : report->at_ns);
}

static unsigned int state_of(const struct where_thread *account)
{
	unsigned int state = WHERE_STATE(account->what);

	return state < WHERE_STATES ? state : WHERE_UNKNOWN;
}

/* How long a wait has lasted that began then, maybe before the window. */
static uint64_t lasted_ns(const struct where_window *window, const struct where_report *report,
			  uint64_t since_ns)
{
	uint64_t until_ns = report->at_ns < window->closed_ns ? report->at_ns : window->closed_ns;

	return until_ns > since_ns ? until_ns - since_ns : 0;
}

/* What the kernel has not added to its own account: the wait for a CPU that goes on. */
static uint64_t open_wait_ns(const struct where_window *window, const struct where_report *report)
{
	const struct where_thread *account = &report->account;

	if (account->task && account->woken_ns)
		return lasted_ns(window, report, account->woken_ns);
	if (account->task && state_of(account) == WHERE_READY)
		return lasted_ns(window, report, account->since_ns);
	return 0;
}

/* The same of a wait for a disk. */
static uint64_t open_io_ns(const struct where_window *window, const struct where_report *report)
{
	const struct where_thread *account = &report->account;

	if (!account->task || account->woken_ns || state_of(account) != WHERE_DISK)
		return 0;
	return lasted_ns(window, report, account->since_ns);
}

/* The parts that have ended, and the one that has not. */
static struct where_sum sum_of(const struct where_window *window, const struct where_report *report)
{
	const struct where_thread *account = &report->account;
	struct where_sum sum = { .kernel = report->kernel };
	uint64_t begin_ns = report->start_ns;

	if (account->task && account->inherits)
		begin_ns = account->begin_ns;
	sum.kernel.queue_ns += open_wait_ns(window, report);
	sum.kernel.io_ns += open_io_ns(window, report);
	sum.life_ns = in_window(window, begin_ns, report->at_ns);
	if (!account->task) {
		sum.ns[WHERE_UNKNOWN] = sum.life_ns;
		return sum;
	}
	memcpy(sum.ns, account->ns, sizeof(sum.ns));
	sum.ns[state_of(account)] += open_ns(window, report);
	if (account->woken_ns)
		sum.ns[WHERE_READY] += in_window(window, account->woken_ns, report->at_ns);
	return sum;
}

/* Of what left the accounts of threads. */
static int add_gone_reason(struct where_one *one, uint32_t what, uint64_t times, uint64_t ns)
{
	struct where_reason *reason = reason_of(one, what);

	if (!reason)
		return -ENOMEM;
	reason->times_gone += times;
	reason->ns_gone += ns;
	return add_reason(one, what, times, ns);
}

static int add_reasons(struct where_one *one, const struct where_window *window,
		       const struct where_report *report)
{
	const struct where_thread *account = &report->account;
	uint64_t open = open_ns(window, report);
	int err = 0;

	for (int i = 0; !err && i < WHERE_SLEEPS && account->sleeps[i].what; i++)
		err = add_reason(one, account->sleeps[i].what, account->sleeps[i].times,
				 account->sleeps[i].ns);
	if (!err && is_sleep(state_of(account)) && open)
		err = add_reason(one, account->what, 1, open);
	return err;
}

/* The thread was in another cgroup when it was read last: what it did so far, it did there. */
static int move(struct where_sums *sums, const struct where_report *report,
		const struct where_sum *sum)
{
	const struct where_key to = { .start = report->cgroup };
	struct where_one *old = one_of(sums, &report->of), *new = one_of(sums, &to);
	const struct where_sleep *sleeps = report->account.sleeps;
	int err = 0;

	if (!old || !new)
		return -ENOMEM;
	old->cgroup = report->of.start;
	add_sum(&old->gone, sum, 1);
	add_sum(&old->now, sum, 1);
	add_sum(&new->gone, sum, -1);
	add_sum(&new->now, sum, -1);
	for (int i = 0; !err && i < WHERE_SLEEPS && sleeps[i].what; i++) {
		err = add_gone_reason(old, sleeps[i].what, sleeps[i].times, sleeps[i].ns);
		if (!err)
			err = add_gone_reason(new, sleeps[i].what, -(uint64_t)sleeps[i].times,
					      -sleeps[i].ns);
	}
	return err;
}

int sums__add_thread(struct where_sums *sums, const struct where_window *window,
		     const struct where_report *report)
{
	const struct where_sum sum = sum_of(window, report);
	struct where_key key = report->of;
	struct where_one *one;
	int err = 0;

	if (!key.id && key.start != report->cgroup) { /* sums are by cgroup */
		err = move(sums, report, &sum);
		key.start = report->cgroup;
	}
	one = err ? NULL : one_of(sums, &key);
	if (!one)
		return -ENOMEM;
	one->living++;
	one->tgid = report->tgid;
	one->cgroup = report->cgroup;
	memcpy(one->comm, report->comm, sizeof(one->comm));
	sums->torn += report->torn;
	add_sum(&one->now, &sum, 1);
	if (report->account.task)
		return add_reasons(one, window, report);
	sums->without++;
	sums->without_ns += sum.life_ns;
	return 0;
}

int sums__add_ended(struct where_sums *sums, const struct where_key *key,
		    const struct where_ended *ended)
{
	struct where_one *one = one_of(sums, key);
	struct where_sum sum = { .life_ns = ended->life_ns, .kernel = ended->kernel };

	if (!one)
		return -ENOMEM;
	if (!one->living) {
		one->tgid = (uint32_t)ended->tgid;
		one->cgroup = key->id ? ended->cgroup : key->start;
		memcpy(one->comm, ended->comm, sizeof(one->comm));
	}
	one->ended += ended->threads;
	memcpy(sum.ns, ended->ns, sizeof(sum.ns));
	add_sum(&one->gone, &sum, 1);
	add_sum(&one->now, &sum, 1);
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

	return one ? add_gone_reason(one, sleep->what, sleep->times, sleep->ns) : -ENOMEM;
}

static uint64_t take(uint64_t *from, uint64_t most)
{
	uint64_t taken = *from < most ? *from : most;

	*from -= taken;
	return taken;
}

uint64_t sums__parts(const struct where_one *one, uint64_t ns[WHERE_STATES])
{
	uint64_t life_ns = sums__gained(one->now.life_ns, one->before.life_ns), surplus_ns = 0;

	for (int i = 0; i < WHERE_STATES; i++) {
		ns[i] = sums__gained(one->now.ns[i], one->before.ns[i]);
		surplus_ns += ns[i];
	}
	surplus_ns = surplus_ns > life_ns ? surplus_ns - life_ns : 0;
	for (int i = WHERE_STATES - 1; i >= 0; i--) /* what is unknown first */
		surplus_ns -= take(&ns[i], surplus_ns);
	return life_ns;
}

static void free_one(struct where_one *one)
{
	free(one->reasons);
	free(one);
}

bool sums__is_whole(const struct where_one *one)
{
	const uint64_t *now = one->now.ns, *before = one->before.ns;
	uint64_t lost = 0;

	for (int i = 0; i < WHERE_UNKNOWN; i++)
		lost += sums__gained(before[i], now[i]);
	return (int64_t)(one->now.life_ns - one->before.life_ns) >= 0 &&
	       lost <= sums__gained(now[WHERE_UNKNOWN], before[WHERE_UNKNOWN]);
}

/* The parts that were told, and the rest as it was read. */
static void keep_one(struct where_one *one)
{
	struct where_sum told = one->now;
	uint64_t ns[WHERE_STATES];

	told.life_ns = one->before.life_ns + sums__parts(one, ns);
	for (int i = 0; i < WHERE_STATES; i++)
		told.ns[i] = one->before.ns[i] + ns[i];
	one->before = told;
	one->waits = 0;
	one->ended_before = one->ended;
	one->is_new = false;
	for (size_t i = 0; i < one->nr_reasons; i++) {
		one->reasons[i].times_before = one->reasons[i].times;
		one->reasons[i].ns_before = one->reasons[i].ns;
	}
}

void sums__keep(struct where_sums *sums)
{
	size_t kept = 0;

	for (size_t i = 0; i < sums->nr; i++) {
		struct where_one *one = sums->ones[i];
		bool waits = !sums__is_whole(one) && one->waits++ < MOST_WAITS;

		if (!one->living && !waits) {
			tdelete(one, &sums->tree, compare);
			free_one(one);
			continue;
		}
		if (!waits)
			keep_one(one);
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
