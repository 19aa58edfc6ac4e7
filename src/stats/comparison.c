// SPDX-License-Identifier: BSD-2-Clause
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/split.h>
#include <core/vec.h>

#include "checks.h"

/* A key that at least one group has, with its time in both. */
struct ranked {
	const char *key;
	uint64_t sum_ns;
};

static const struct run *first_run(const struct comparison *comparison)
{
	return comparison->groups[0].recordings[0].run;
}

static int read_groups(struct comparison *comparison, const struct comparison_paths paths[2])
{
	const struct comparison_rules *rules = &comparison->rules;
	struct group *groups = comparison->groups;
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++)
		err = group__find_all(&groups[i], paths[i].paths, paths[i].nr);
	comparison->rules.judge.batches =
		groups[0].nr < JUDGE_LEAST_OBSERVATIONS || groups[1].nr < JUDGE_LEAST_OBSERVATIONS;
	for (unsigned int i = 0; !err && i < 2; i++)
		err = group__read(&groups[i], rules->probe, rules->by, rules->judge.batches);
	return err;
}

static void refuse(struct comparison *comparison, const char *probe, const char *why)
{
	struct comparison_refusal *refusal;

	for (unsigned int i = 0; i < comparison->nr_refusals; i++) {
		if (!strcmp(comparison->refusals[i].probe, probe))
			return;
	}
	if (comparison->nr_refusals == RUN_PROBES)
		return;
	refusal = &comparison->refusals[comparison->nr_refusals++];
	snprintf(refusal->probe, RUN_NAME, "%s", probe);
	snprintf(refusal->why, RUN_TEXT, "%s", why);
}

static bool wanted(const struct comparison *comparison, const struct run_probe *probe)
{
	const char *only = comparison->rules.probe;

	return !only || !strcmp(only, probe->name);
}

/* Probes that at least one recording has, but not all of them. */
static void refuse_probes(struct comparison *comparison)
{
	char why[RUN_TEXT];

	for (unsigned int i = 0; i < 2; i++) {
		const struct group *group = &comparison->groups[i];

		for (size_t j = 0; j < group->nr; j++) {
			const struct run *run = group->recordings[j].run;

			for (unsigned int k = 0; k < run->nr_probes; k++) {
				if (wanted(comparison, &run->probes[k]) &&
				    !match__probe(comparison->groups, run->probes[k].name, why))
					refuse(comparison, run->probes[k].name, why);
			}
		}
	}
}

static bool refused(const struct comparison *comparison, const char *probe)
{
	for (unsigned int i = 0; i < comparison->nr_refusals; i++) {
		if (!strcmp(comparison->refusals[i].probe, probe))
			return true;
	}
	return false;
}

static void add_up(const struct group *group, const struct group_series *series, double confidence,
		   struct comparison_total *total)
{
	struct lat_hist pool = { 0 };

	for (size_t i = 0; i < group->nr; i++)
		total->duration_ns += group->recordings[i].run->duration_ns;
	for (size_t i = 0; series && i < series->nr; i++) {
		const struct observation *observation = &series->observations[i];

		total->events += observation->events;
		total->tail += observation->hist.tail;
		sparse__add_to(&pool, &observation->hist);
		total->sum_ns += observation->hist.sum_ns;
		if (total->max_ns < observation->hist.max_ns)
			total->max_ns = observation->hist.max_ns;
	}
	hist__log2(&pool, total->buckets);
	total->wilson = share__wilson(total->tail, total->events, confidence);
}

/* Without a common threshold the tail is not tested. */
static void withdraw_tail(const struct comparison_tail *threshold, struct judged *tail)
{
	if (threshold->ns)
		return;
	*tail = judge__none;
	snprintf(tail->why, RUN_TEXT, "%s", threshold->why);
}

/*
 * Two groups of iolat with different stamps differ by more than the spread that is assumed between
 * single runs. "total" starts and ends at neither kind of stamp.
 */
static void withdraw_stamps(const struct comparison *comparison, struct comparison_row *row)
{
	if (!comparison->rules.judge.batches ||
	    !strcmp(row->probe->metrics[row->metric].name, "total") ||
	    !checks__stamps_differ(comparison->groups, row->probe->name))
		return;
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++) {
		struct judged *judged = &row->statistics[i];

		if (!judged->tested || i == JUDGE_RATE)
			continue;
		judged->tested = false;
		judged->low = judged->high = judged->p = NAN;
		snprintf(judged->why, RUN_TEXT,
			 "one group has the kernel's stamps, the other its own; groups of three "
			 "recordings would show the effect");
	}
}

static int add_row(struct comparison *comparison, const struct run_probe *probe,
		   unsigned int metric, int by, const char *key)
{
	struct judge_group parts[2] = { { 0 } };
	struct comparison_row *grown, *row;

	grown = vec__grow(comparison->rows, comparison->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	comparison->rows = grown;
	row = &grown[comparison->nr++];
	memset(row, 0, sizeof(*row));
	row->probe = probe;
	row->tail = &comparison->tails[comparison->nr_tails - 1];
	row->metric = metric;
	row->by = by;
	row->key = key;
	for (unsigned int i = 0; i < 2; i++) {
		const struct group_series *series = group__series(
			&comparison->groups[i], probe->name, probe->metrics[metric].name, by, key);

		add_up(&comparison->groups[i], series, comparison->rules.judge.confidence,
		       &row->total[i]);
		parts[i] = (struct judge_group){ .runs = comparison->groups[i].nr,
						 .windows_ns = comparison->groups[i].windows_ns,
						 .nr_windows = comparison->groups[i].nr_windows };
		if (series) {
			parts[i].observations = series->observations;
			parts[i].nr = series->nr;
		}
	}
	judge__statistics(&comparison->rules.judge, &parts[0], &parts[1], row->statistics);
	withdraw_tail(row->tail, &row->statistics[JUDGE_TAIL]);
	withdraw_tail(row->tail, &row->statistics[JUDGE_TAIL_RATE]);
	withdraw_stamps(comparison, row);
	return 0;
}

static uint64_t time_of(const struct group_series *series)
{
	uint64_t sum = 0;

	for (size_t i = 0; series && i < series->nr; i++)
		sum += series->observations[i].hist.sum_ns;
	return sum;
}

static int most_time_first(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->sum_ns != b->sum_ns)
		return a->sum_ns < b->sum_ns ? 1 : -1;
	return strcmp(a->key, b->key);
}

/* The keys of one split of one metric that at least one group has. */
static ssize_t rank_keys(const struct comparison *comparison, const char *probe, const char *metric,
			 int by, struct ranked **ranked)
{
	const struct group *groups = comparison->groups;
	size_t nr = 0;

	*ranked = calloc(groups[0].nr_series + groups[1].nr_series + 1, sizeof(**ranked));
	if (!*ranked)
		return -ENOMEM;
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr_series; j++) {
			const struct group_series *series = groups[i].series[j], *other;

			if (series->by != by || !series->nr || strcmp(series->probe, probe) ||
			    strcmp(series->metric, metric))
				continue;
			other = group__series(&groups[!i], probe, metric, by, series->key);
			if (i && other && other->nr)
				continue; /* already added for OFF */
			(*ranked)[nr].key = series->key;
			(*ranked)[nr++].sum_ns = time_of(series) + time_of(other);
		}
	}
	qsort(*ranked, nr, sizeof(**ranked), most_time_first);
	return (ssize_t)nr;
}

static int add_split(struct comparison *comparison, const struct run_probe *probe,
		     unsigned int metric, int by)
{
	size_t top = comparison->rules.top;
	struct ranked *ranked;
	ssize_t nr, shown;
	int err = 0;

	nr = rank_keys(comparison, probe->name, probe->metrics[metric].name, by, &ranked);
	if (nr < 0)
		return (int)nr;
	shown = top && (size_t)nr > top ? (ssize_t)top : nr;
	for (ssize_t i = 0; !err && i < shown; i++)
		err = add_row(comparison, probe, metric, by, ranked[i].key);
	free(ranked);
	if (!err && !nr)
		err = notes__add(&comparison->warnings, "%s %s was not split by %s", probe->name,
				 probe->metrics[metric].name, split__name((unsigned int)by));
	if (!err && shown < nr)
		err = notes__add(&comparison->warnings,
				 "%s %s: %zd more names by %s with less time are not compared; "
				 "raise --top",
				 probe->name, probe->metrics[metric].name, nr - shown,
				 split__name((unsigned int)by));
	return err;
}

static int add_metric(struct comparison *comparison, const struct run_probe *probe,
		      unsigned int metric)
{
	int err;

	err = add_row(comparison, probe, metric, GROUP_WHOLE, "");
	for (int by = 0; !err && by < LAT_BY_COUNT; by++) {
		if (comparison->rules.by & 1U << by)
			err = add_split(comparison, probe, metric, by);
	}
	return err;
}

static void choose_tail(struct comparison *comparison, const char *probe)
{
	struct comparison_tail *tail = &comparison->tails[comparison->nr_tails++];

	snprintf(tail->probe, RUN_NAME, "%s", probe);
	tail->ns = match__tail(comparison->groups, probe,
			       tails__of(&comparison->rules.tails, probe), tail->why);
}

static int add_probes(struct comparison *comparison)
{
	const struct run *run = first_run(comparison);
	unsigned int nr;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		if (!wanted(comparison, probe) || refused(comparison, probe->name) ||
		    !probe->nr_metrics)
			continue;
		choose_tail(comparison, probe->name);
		err = checks__probe(comparison->groups, probe->name, &comparison->warnings);
		nr = match__metrics(comparison->groups, probe->name);
		for (unsigned int j = 0; !err && j < nr; j++)
			err = add_metric(comparison, probe, j);
	}
	return err;
}

/* Latencies without events do not count as "could not be tested". */
static void count_verdicts(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr * JUDGE_STATISTICS; i++) {
		const struct comparison_row *row = &comparison->rows[i / JUDGE_STATISTICS];
		unsigned int statistic = i % JUDGE_STATISTICS;

		if (row->statistics[statistic].tested)
			comparison->verdicts[row->statistics[statistic].verdict]++;
		else if (comparison->rules.judge.statistics & 1U << statistic &&
			 (row->total[0].events || row->total[1].events))
			comparison->untested++;
	}
}

static int conclude(struct comparison *comparison)
{
	struct judged **family;
	ssize_t tested;

	family = calloc(comparison->nr + 1, sizeof(*family));
	if (!family)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->nr; i++)
		family[i] = comparison->rows[i].statistics;
	tested = judge__verdicts(&comparison->rules.judge, family, comparison->nr);
	free(family);
	if (tested < 0)
		return (int)tested;
	comparison->family = (size_t)tested;
	count_verdicts(comparison);
	return 0;
}

int comparison__run_all(struct comparison *comparison, const struct comparison_rules *rules,
			const struct comparison_paths paths[2])
{
	int err;

	memset(comparison, 0, sizeof(*comparison));
	comparison->rules = *rules;
	err = read_groups(comparison, paths);
	if (err)
		return err;
	refuse_probes(comparison);
	err = checks__groups(comparison->groups, &comparison->warnings);
	if (!err)
		err = add_probes(comparison);
	if (!err)
		err = share_changes__of(&comparison->shares, &comparison->rules.judge,
					comparison->groups, rules->by ?: 1U << LAT_BY_PROCESS,
					rules->top);
	if (!err && !comparison->nr && !comparison->shares.nr)
		err = -ENODATA;
	return err ? err : conclude(comparison);
}

int comparison__run(struct comparison *comparison, const struct comparison_rules *rules,
		    const char *off, const char *on)
{
	const struct comparison_paths groups[2] = { { &off, 1 }, { &on, 1 } };

	return comparison__run_all(comparison, rules, groups);
}

void comparison__clear(struct comparison *comparison)
{
	group__clear(&comparison->groups[0]);
	group__clear(&comparison->groups[1]);
	notes__clear(&comparison->warnings);
	share_changes__clear(&comparison->shares);
	free(comparison->rows);
	memset(comparison, 0, sizeof(*comparison));
}
