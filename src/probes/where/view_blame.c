// SPDX-License-Identifier: BSD-2-Clause
#include "view_blame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

#include "view_limits.h"
#include "view_states.h"

#define NOBODY 0.25 /* weight of a wait that nobody is known to have caused */
#define OWN 0.25 /* the same of what its own tasks caused */
#define MUCH 0.01 /* of the window */
#define BUSY 0.98 /* of its life: who has something to do for so long never rests */
#define MOST_OF_HOG 0.5 /* of its time: who loses more is no hog, but suffers from one */
#define LITTLE 0.1 /* of what it lost itself: who made others wait so little is no culprit */

/* Can the process have made itself wait? Who waits for a lock of its own waits for a thread. */
static bool can_be_own(unsigned int state)
{
	return state == WHERE_READY || state == WHERE_DISK;
}

/* ---- culprits ---- */

static void name_culprit(struct culprit *culprit, const struct accounts *accounts, const char *who)
{
	for (size_t i = 0; i < accounts->nr; i++)
		if (reasons__is_of_row(&accounts->rows[i], who))
			who = accounts->rows[i].name;
	snprintf(culprit->who, sizeof(culprit->who), "%s", who);
}

/* Without memory, it is left out. */
static void add_culprit(struct blame *blame, const struct accounts *accounts, size_t row,
			const char *who, double ns)
{
	struct culprit fresh = { 0 };
	size_t at = 0;

	name_culprit(&fresh, accounts, who);
	while (at < blame->nr_culprits && strcmp(blame->culprits[at].who, fresh.who) != 0)
		at++;
	if (at == blame->nr_culprits &&
	    vec__append(&blame->culprits, &blame->nr_culprits, &fresh, sizeof(fresh)))
		return;
	blame->culprits[at].ns += ns;
	vec__append(&blame->pairs, &blame->nr_pairs, &(struct blame_pair){ row, at, ns },
		    sizeof(*blame->pairs));
}

static int longest_first(const void *left, const void *right)
{
	double a = ((const struct culprit *)left)->victims_ns;
	double b = ((const struct culprit *)right)->victims_ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* ---- those who suffer ---- */

/* A limit of memory, if the stacks tell one. */
static double add_limit(struct blame *blame, size_t at, const struct reasons *reasons)
{
	struct sufferer *sufferer = &blame->rows[at];
	double ns = sufferer->row->waited_ns[WHERE_MEMORY];
	struct limit limit;

	if (ns <= 0 || !limits__find(&limit, reasons, sufferer->row))
		return 0;
	sufferer->others_ns[WHERE_MEMORY] += limit.share * ns;
	sufferer->all_others_ns += limit.share * ns;
	add_culprit(blame, reasons->accounts, at, limit.who, limit.share * ns);
	return limit.share * ns;
}

/*
 * Of a wait whose causes are not known: who has half of the CPU time, or of the waits for a disk,
 * has caused half of its waits by itself.
 */
static double share_of_others(const struct where_account *row, const struct where_account *all,
			      unsigned int state)
{
	unsigned int use = state == WHERE_READY ? WHERE_CPU : state;

	return can_be_own(state) ? 1 - accounts__share(row->ns[use], all->ns[use]) : 1;
}

static void add_part(struct blame *blame, size_t at, const struct reasons *reasons,
		     unsigned int state)
{
	struct sufferer *sufferer = &blame->rows[at];
	const struct where_account *row = sufferer->row;
	double limit_ns = state == WHERE_MEMORY ? add_limit(blame, at, reasons) : 0;
	double left_ns = row->waited_ns[state] - limit_ns, nobody_ns = 0;
	struct reason *list = NULL;
	size_t nr = left_ns > 0 ? reasons__list(reasons, row, state, &list) : 0;

	for (size_t i = 0; i < nr; i++) {
		double ns =
			fmin(list[i].share * fmax(row->ns[state], row->waited_ns[state]), left_ns);
		bool itself = reasons__is_itself(row, &list[i]);

		left_ns -= ns;
		if (itself && can_be_own(state)) {
			sufferer->own_ns += ns;
		} else if (itself || list[i].is_named || !list[i].part || list[i].part->of_quota) {
			sufferer->others_ns[state] += ns;
			sufferer->all_others_ns += ns;
		} else {
			nobody_ns += ns;
		}
		if (!itself && list[i].is_named)
			add_culprit(blame, reasons->accounts, at, list[i].who, ns);
	}
	sufferer->nobody_ns += nobody_ns;
	sufferer->open_ns += left_ns;
	sufferer->maybe_ns +=
		(nobody_ns + left_ns) * share_of_others(row, &reasons->accounts->all, state);
	free(list);
}

double blame__suffered_ns(const struct sufferer *sufferer)
{
	return sufferer->all_others_ns + sufferer->nobody_ns + sufferer->open_ns;
}

/* What it lost: where nobody is known to have caused it, only a part. */
static double lost_ns(const struct sufferer *sufferer)
{
	return sufferer->all_others_ns + NOBODY * sufferer->maybe_ns;
}

/* Of the time in which it had something to do: those that always run lose least. */
static double active_share(const struct sufferer *sufferer, double ns)
{
	return accounts__share(ns, sufferer->row->ns[WHERE_CPU] + sufferer->row->all_waited_ns);
}

static double lost_share(const struct sufferer *sufferer)
{
	return active_share(sufferer, lost_ns(sufferer));
}

/* Who always has something to do wants a CPU as long as it can have one: it waits in any case. */
static bool rests(const struct where_account *row)
{
	return row->ns[WHERE_CPU] + row->all_waited_ns < BUSY * row->life_ns;
}

/*
 * Those that made it wait lost less of their time than it did; or it never rests and made those
 * wait that do, who are the ones that somebody waits for.
 */
static bool is_culprit(const struct culprit *of, const struct sufferer *sufferer, double much_ns)
{
	double share = lost_share(sufferer);

	if (of->resting_ns >= much_ns && !rests(sufferer->row) && share < MOST_OF_HOG)
		return true;
	return of->ns > LITTLE * lost_ns(sufferer) &&
	       accounts__share(of->weighted_ns, of->ns) > share;
}

/* What it lost, and of what it lost by itself a part: that may be the finding, too. */
static double weight_of(const struct sufferer *sufferer)
{
	return lost_ns(sufferer) + OWN * sufferer->own_ns;
}

/* Also says whether those come first that lost much, then the culprits. */
static void judge(struct blame *blame, struct sufferer *sufferer, double much_ns)
{
	blame->waited_ns += sufferer->row->all_waited_ns;
	blame->own_ns += sufferer->own_ns;
	blame->open_ns += sufferer->open_ns;
	for (size_t i = 0; i < blame->nr_culprits; i++) {
		const struct culprit *culprit = &blame->culprits[i];

		if (!strcmp(culprit->who, sufferer->row->name))
			sufferer->is_culprit = is_culprit(culprit, sufferer, much_ns);
	}
	sufferer->order = sufferer->is_culprit ? 1 : weight_of(sufferer) >= much_ns ? 0 : 2;
}

/* Both count, how long it lost and how much of its time: idle threads that live long do not. */
static int most_first(const void *left, const void *right)
{
	const struct sufferer *a = left, *b = right;
	double of_a = weight_of(a) * active_share(a, weight_of(a));
	double of_b = weight_of(b) * active_share(b, weight_of(b));

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return of_a < of_b ? 1 : of_a > of_b ? -1 : 0;
}

int blame__of(struct blame *blame, const struct reasons *reasons)
{
	const struct accounts *accounts = reasons->accounts;

	*blame = (struct blame){ .rows = calloc(accounts->nr + 1, sizeof(*blame->rows)) };
	if (!blame->rows)
		return -ENOMEM;
	for (size_t i = 0; i < accounts->nr; i++) {
		blame->rows[i].row = &accounts->rows[i];
		for (unsigned int state = 0; state < WHERE_STATES; state++)
			if (where_is_wait(state))
				add_part(blame, i, reasons, state);
	}
	for (size_t i = 0; i < blame->nr_pairs; i++) {
		const struct blame_pair *pair = &blame->pairs[i];
		struct culprit *culprit = &blame->culprits[pair->culprit];

		culprit->weighted_ns += pair->ns * lost_share(&blame->rows[pair->row]);
		culprit->resting_ns += rests(blame->rows[pair->row].row) ? pair->ns : 0;
	}
	for (size_t i = 0; i < accounts->nr; i++)
		judge(blame, &blame->rows[i], MUCH * (double)reasons->run->duration_ns);
	for (size_t i = 0; i < blame->nr_pairs; i++)
		if (!blame->rows[blame->pairs[i].row].is_culprit)
			blame->culprits[blame->pairs[i].culprit].victims_ns += blame->pairs[i].ns;
	qsort(blame->rows, accounts->nr, sizeof(*blame->rows), most_first);
	if (blame->nr_culprits)
		qsort(blame->culprits, blame->nr_culprits, sizeof(*blame->culprits), longest_first);
	return 0;
}

void blame__clear(struct blame *blame)
{
	free(blame->rows);
	free(blame->culprits);
	free(blame->pairs);
}
