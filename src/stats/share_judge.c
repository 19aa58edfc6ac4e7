// SPDX-License-Identifier: BSD-2-Clause
#include "share_judge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

#include "inference.h"

/* Of the logarithm of one window's share: none is known better than to 1 %. */
#define LEAST_VARIANCE 1e-4

/* A key that both groups have. */
struct candidate {
	const struct shares_key *sides[2];
	double busy; /* time outside of its largest part */
};

/* A part of a key in one group. */
struct side {
	const struct group *group;
	const struct shares_key *key;
	int part; /* -1: the group does not have it */
};

static double part_of(const struct side *side, size_t window)
{
	return side->part < 0 ? 0 : side->key->windows[window].parts[side->part];
}

static double logarithm(double part, double whole)
{
	return log(part / whole + SHARE_LEAST);
}

/* The value of a group of runs is their mean; of batches it is that of their sum. */
static double value_of(const struct side *side, bool batches)
{
	double part = 0, whole = 0, mean = 0;

	for (size_t i = 0; i < side->key->nr; i++) {
		part += part_of(side, i);
		whole += side->key->windows[i].whole;
		mean += part_of(side, i) / side->key->windows[i].whole / (double)side->key->nr;
	}
	return batches ? part / whole : mean;
}

/* Batches show only how much a share varies, see judge.c. */
static struct contrast_group describe(const struct judge_rules *rules, const struct side *side,
				      double value)
{
	struct contrast_group group = {
		.observations = (double)side->key->nr,
		.known = judge__between_runs(rules, side->group->nr),
	};
	double sum = 0, off;

	for (size_t i = 0; i < side->key->nr; i++)
		sum += logarithm(part_of(side, i), side->key->windows[i].whole);
	group.centre = rules->batches ? logarithm(value, 1) : sum / group.observations;
	for (size_t i = 0; i < side->key->nr; i++) {
		off = logarithm(part_of(side, i), side->key->windows[i].whole) - group.centre;
		group.variance += off * off / (group.observations - 1);
	}
	group.variance = fmax(group.variance, LEAST_VARIANCE);
	return group;
}

static void judge(const struct judge_rules *rules, const struct side sides[2],
		  struct judged *judged)
{
	struct contrast_group parts[2];
	struct contrast contrast;

	*judged = judge__none;
	judged->off = value_of(&sides[0], rules->batches);
	judged->on = value_of(&sides[1], rules->batches);
	parts[0] = describe(rules, &sides[0], judged->off);
	parts[1] = describe(rules, &sides[1], judged->on);
	contrast = contrast__of(&parts[0], &parts[1], rules->confidence, log1p(rules->min_effect));
	judged->ratio = exp(contrast.difference);
	judged->low = exp(contrast.low);
	judged->high = exp(contrast.high);
	judged->p = contrast.p;
	judged->tested = rules->statistics & 1U << JUDGE_SHARE &&
			 fmax(judged->off, judged->on) >= SHARE_LEAST;
}

/* ---- keys ---- */

/* Windows in which it did not live are none. */
static bool is_enough(const struct shares_key *key)
{
	size_t nr = 0;

	for (size_t i = 0; key && i < key->nr; i++)
		nr += key->windows[i].whole > 0;
	return key && nr == key->nr && nr >= JUDGE_LEAST_OBSERVATIONS;
}

static double busy_time(const struct group groups[2], const struct shares_key *const sides[2])
{
	double sums[SHARES_PARTS] = { 0 }, whole = 0, most = 0;

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i]->nr; j++) {
			whole += sides[i]->windows[j].whole;
			for (unsigned int k = 0; k < groups[i].shares.nr_parts; k++) {
				int part =
					shares__part(&groups[0].shares, groups[i].shares.parts[k]);

				if (part >= 0)
					sums[part] += sides[i]->windows[j].parts[k];
			}
		}
	}
	for (unsigned int i = 0; i < SHARES_PARTS; i++)
		most = fmax(most, sums[i]);
	return whole - most;
}

static int busiest_first(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->busy != b->busy)
		return a->busy < b->busy ? 1 : -1;
	return strcmp(a->sides[0]->name, b->sides[0]->name);
}

static int find_candidates(const struct group groups[2], int by, struct candidate **found,
			   size_t *nr)
{
	const struct shares *off = &groups[0].shares;
	int err = 0;

	for (size_t i = 0; !err && i < off->nr_keys; i++) {
		struct candidate candidate = {
			{ off->keys[i], shares__find(&groups[1].shares, off->keys[i]) }, 0
		};

		if (off->keys[i]->by != by || !is_enough(candidate.sides[0]) ||
		    !is_enough(candidate.sides[1]))
			continue;
		candidate.busy = busy_time(groups, candidate.sides);
		err = vec__append(found, nr, &candidate, sizeof(candidate));
	}
	if (*nr)
		qsort(*found, *nr, sizeof(**found), busiest_first);
	return err;
}

static int add_parts(struct share_changes *changes, const struct judge_rules *rules,
		     const struct group groups[2], const struct candidate *candidate)
{
	const struct shares *off = &groups[0].shares;
	int err = 0;

	for (unsigned int i = 0; !err && i < off->nr_parts; i++) {
		const struct side sides[2] = {
			{ &groups[0], candidate->sides[0], (int)i },
			{ &groups[1], candidate->sides[1],
			  shares__part(&groups[1].shares, off->parts[i]) },
		};
		struct share_change change = { .key = candidate->sides[0], .part = off->parts[i] };

		judge(rules, sides, &change.judged);
		err = vec__append(&changes->changes, &changes->nr, &change, sizeof(change));
	}
	return err;
}

static int add_split(struct share_changes *changes, const struct judge_rules *rules,
		     const struct group groups[2], int by, unsigned int top)
{
	struct candidate *candidates = NULL;
	size_t nr = 0;
	int err = find_candidates(groups, by, &candidates, &nr);

	for (size_t i = 0; !err && i < nr && (!top || i < top); i++)
		err = add_parts(changes, rules, groups, &candidates[i]);
	free(candidates);
	return err;
}

/* ---- verdicts ---- */

static void conclude_one(const struct judge_rules *rules, size_t family, struct judged *judged)
{
	if (fabs(judged->on - judged->off) < SHARE_LEAST)
		snprintf(judged->why, RUN_TEXT, "the difference is less than %g %% of the whole",
			 SHARE_LEAST * 100);
	else
		judge__conclude(rules, JUDGE_SHARE, family, judged);
}

static int conclude(struct share_changes *changes, const struct judge_rules *rules)
{
	double *p = calloc(changes->nr + 1, sizeof(*p));
	size_t at = 0;
	int err;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < changes->nr; i++)
		if (changes->changes[i].judged.tested)
			p[changes->tested++] = changes->changes[i].judged.p;
	err = holm__adjust(p, changes->tested);
	for (size_t i = 0; !err && i < changes->nr; i++) {
		struct judged *judged = &changes->changes[i].judged;

		if (!judged->tested)
			continue;
		judged->adjusted = p[at++];
		conclude_one(rules, changes->tested, judged);
		changes->verdicts[judged->verdict]++;
	}
	free(p);
	return err;
}

int share_changes__of(struct share_changes *changes, const struct judge_rules *rules,
		      const struct group groups[2], uint32_t by, unsigned int top)
{
	int err;

	memset(changes, 0, sizeof(*changes));
	err = add_split(changes, rules, groups, GROUP_WHOLE, 0);
	for (int i = 0; !err && i < LAT_BY_COUNT; i++)
		if (by & 1U << i)
			err = add_split(changes, rules, groups, i, top);
	return err ? err : conclude(changes, rules);
}

void share_changes__clear(struct share_changes *changes)
{
	free(changes->changes);
	memset(changes, 0, sizeof(*changes));
}

const char *share_change__part(const struct share_change *change, char name[RUN_NAME])
{
	size_t len = strlen(change->part);

	if (len > 3 && !strcmp(change->part + len - 3, "_ns"))
		len -= 3;
	snprintf(name, RUN_NAME, "%.*s", (int)len, change->part);
	return name;
}
