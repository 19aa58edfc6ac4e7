// SPDX-License-Identifier: BSD-2-Clause
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/by.h>
#include <base/grow.h>

#include "checks.h"
#include "match.h"

/* A key that either side has, with its time on both. */
struct ranked {
	const char *key;
	uint64_t sum_ns;
};

static const struct run *first_run(const struct comparison *comparison)
{
	return comparison->sides[0].recordings[0].run;
}

static int read_sides(struct comparison *comparison, const char *const paths[2])
{
	const struct comparison_rules *rules = &comparison->rules;
	struct side *sides = comparison->sides;
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++)
		err = side__find(&sides[i], paths[i]);
	comparison->rules.judge.batches =
		sides[0].nr < JUDGE_LEAST_UNITS || sides[1].nr < JUDGE_LEAST_UNITS;
	for (unsigned int i = 0; !err && i < 2; i++)
		err = side__read(&sides[i], rules->module, rules->by, rules->judge.batches);
	return err;
}

static void refuse(struct comparison *comparison, const char *module, const char *why)
{
	struct comparison_refusal *refusal;

	for (unsigned int i = 0; i < comparison->nr_refusals; i++) {
		if (!strcmp(comparison->refusals[i].module, module))
			return;
	}
	if (comparison->nr_refusals == RUN_MODULES)
		return;
	refusal = &comparison->refusals[comparison->nr_refusals++];
	snprintf(refusal->module, RUN_NAME, "%s", module);
	snprintf(refusal->why, RUN_TEXT, "%s", why);
}

static bool wanted(const struct comparison *comparison, const struct run_module *module)
{
	const char *only = comparison->rules.module;

	return !only || !strcmp(only, module->name);
}

/* Modules of any recording that not all have. */
static void refuse_modules(struct comparison *comparison)
{
	char why[RUN_TEXT];

	for (unsigned int i = 0; i < 2; i++) {
		const struct side *side = &comparison->sides[i];

		for (size_t j = 0; j < side->nr; j++) {
			const struct run *run = side->recordings[j].run;

			for (unsigned int k = 0; k < run->nr_modules; k++) {
				if (wanted(comparison, &run->modules[k]) &&
				    !match__module(comparison->sides, run->modules[k].name, why))
					refuse(comparison, run->modules[k].name, why);
			}
		}
	}
}

static bool refused(const struct comparison *comparison, const char *module)
{
	for (unsigned int i = 0; i < comparison->nr_refusals; i++) {
		if (!strcmp(comparison->refusals[i].module, module))
			return true;
	}
	return false;
}

static void add_up(const struct side *side, const struct side_series *series, double confidence,
		   struct comparison_total *total)
{
	for (size_t i = 0; i < side->nr; i++)
		total->duration_ns += side->recordings[i].run->duration_ns;
	for (size_t i = 0; series && i < series->nr; i++) {
		const struct unit *unit = &series->units[i];

		total->events += unit->events;
		total->tail += unit->hist.tail;
		total->sum_ns += unit->hist.sum_ns;
		if (total->max_ns < unit->hist.max_ns)
			total->max_ns = unit->hist.max_ns;
	}
	total->wilson = share__wilson(total->tail, total->events, confidence);
}

/* Without a threshold the tail is nothing to be judged. */
static void withdraw_tail(const struct comparison *comparison, struct judged *tail)
{
	if (comparison->tail_ns)
		return;
	*tail = (struct judged){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, false, 0, "" };
	snprintf(tail->why, RUN_TEXT, "%s", comparison->tail_why);
}

/*
 * Which stamps a run of iolat has is another difference between runs, beyond the spread that is
 * assumed where there is only one. "total" begins and ends at neither kind.
 */
static void withdraw_stamps(const struct comparison *comparison, struct comparison_row *row)
{
	if (!comparison->rules.judge.batches ||
	    !strcmp(row->module->metrics[row->metric].name, "total") ||
	    !checks__stamps_differ(comparison->sides, row->module->name))
		return;
	for (unsigned int i = 0; i < JUDGE_FIGURES; i++) {
		struct judged *judged = &row->figures[i];

		if (!judged->tested || i == JUDGE_RATE)
			continue;
		judged->tested = false;
		judged->low = judged->high = judged->p = NAN;
		snprintf(judged->why, RUN_TEXT,
			 "one side has the kernel's stamps, the other its own; three recordings a "
			 "side would tell what that makes");
	}
}

static int add_row(struct comparison *comparison, const struct run_module *module,
		   unsigned int metric, int by, const char *key)
{
	struct judge_side parts[2] = { { 0 } };
	struct comparison_row *grown, *row;

	grown = grow__one(comparison->rows, comparison->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	comparison->rows = grown;
	row = &grown[comparison->nr++];
	memset(row, 0, sizeof(*row));
	row->module = module;
	row->metric = metric;
	row->by = by;
	row->key = key;
	for (unsigned int i = 0; i < 2; i++) {
		const struct side_series *series = side__series(
			&comparison->sides[i], module->name, module->metrics[metric].name, by, key);

		add_up(&comparison->sides[i], series, comparison->rules.judge.confidence,
		       &row->total[i]);
		parts[i] = (struct judge_side){ .runs = comparison->sides[i].nr,
						.windows_ns = comparison->sides[i].windows_ns,
						.nr_windows = comparison->sides[i].nr_windows };
		if (series) {
			parts[i].units = series->units;
			parts[i].nr = series->nr;
		}
	}
	judge__figures(&comparison->rules.judge, &parts[0], &parts[1], row->figures);
	withdraw_tail(comparison, &row->figures[JUDGE_TAIL]);
	withdraw_tail(comparison, &row->figures[JUDGE_TAIL_RATE]);
	withdraw_stamps(comparison, row);
	return 0;
}

static uint64_t time_of(const struct side_series *series)
{
	uint64_t sum = 0;

	for (size_t i = 0; series && i < series->nr; i++)
		sum += series->units[i].hist.sum_ns;
	return sum;
}

static int most_time_first(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->sum_ns != b->sum_ns)
		return a->sum_ns < b->sum_ns ? 1 : -1;
	return strcmp(a->key, b->key);
}

/* The keys of one split of one metric that either side has. */
static ssize_t rank_keys(const struct comparison *comparison, const char *module,
			 const char *metric, int by, struct ranked **ranked)
{
	const struct side *sides = comparison->sides;
	size_t nr = 0;

	*ranked = calloc(sides[0].nr_series + sides[1].nr_series + 1, sizeof(**ranked));
	if (!*ranked)
		return -ENOMEM;
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i].nr_series; j++) {
			const struct side_series *series = sides[i].series[j], *other;

			if (series->by != by || !series->nr || strcmp(series->module, module) ||
			    strcmp(series->metric, metric))
				continue;
			other = side__series(&sides[!i], module, metric, by, series->key);
			if (i && other && other->nr)
				continue; /* has come with the first side */
			(*ranked)[nr].key = series->key;
			(*ranked)[nr++].sum_ns = time_of(series) + time_of(other);
		}
	}
	qsort(*ranked, nr, sizeof(**ranked), most_time_first);
	return (ssize_t)nr;
}

static int add_split(struct comparison *comparison, const struct run_module *module,
		     unsigned int metric, int by)
{
	size_t top = comparison->rules.top;
	struct ranked *ranked;
	ssize_t nr, shown;
	int err = 0;

	nr = rank_keys(comparison, module->name, module->metrics[metric].name, by, &ranked);
	if (nr < 0)
		return (int)nr;
	shown = top && (size_t)nr > top ? (ssize_t)top : nr;
	for (ssize_t i = 0; !err && i < shown; i++)
		err = add_row(comparison, module, metric, by, ranked[i].key);
	free(ranked);
	if (!err && !nr)
		err = notes__add(&comparison->warnings, "%s %s was not split by %s", module->name,
				 module->metrics[metric].name, by__name((unsigned int)by));
	if (!err && shown < nr)
		err = notes__add(&comparison->warnings,
				 "%s %s: %zd more names by %s, with less time, are not compared; "
				 "--top takes more",
				 module->name, module->metrics[metric].name, nr - shown,
				 by__name((unsigned int)by));
	return err;
}

static int add_metric(struct comparison *comparison, const struct run_module *module,
		      unsigned int metric)
{
	int err;

	err = add_row(comparison, module, metric, SIDE_WHOLE, "");
	for (int by = 0; !err && by < LAT_BY_COUNT; by++) {
		if (comparison->rules.by & 1U << by)
			err = add_split(comparison, module, metric, by);
	}
	return err;
}

static int add_modules(struct comparison *comparison)
{
	const struct run *run = first_run(comparison);
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_modules; i++) {
		const struct run_module *module = &run->modules[i];

		if (!wanted(comparison, module) || refused(comparison, module->name))
			continue;
		err = checks__module(comparison->sides, module->name, &comparison->warnings);
		for (unsigned int j = 0; !err && j < module->nr_metrics; j++)
			err = add_metric(comparison, module, j);
	}
	return err;
}

/* Nothing could be told of what nobody has seen. */
static void count_verdicts(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr * JUDGE_FIGURES; i++) {
		const struct comparison_row *row = &comparison->rows[i / JUDGE_FIGURES];
		unsigned int figure = i % JUDGE_FIGURES;

		if (row->figures[figure].tested)
			comparison->verdicts[row->figures[figure].verdict]++;
		else if (comparison->rules.judge.figures & 1U << figure &&
			 (row->total[0].events || row->total[1].events))
			comparison->untold++;
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
		family[i] = comparison->rows[i].figures;
	tested = judge__verdicts(&comparison->rules.judge, family, comparison->nr);
	free(family);
	if (tested < 0)
		return (int)tested;
	comparison->family = (size_t)tested;
	count_verdicts(comparison);
	return 0;
}

int comparison__run(struct comparison *comparison, const struct comparison_rules *rules,
		    const char *off, const char *on)
{
	const char *const paths[2] = { off, on };
	int err;

	memset(comparison, 0, sizeof(*comparison));
	comparison->rules = *rules;
	err = read_sides(comparison, paths);
	if (err)
		return err;
	comparison->tail_ns = match__tail(comparison->sides, rules->tail_ns, comparison->tail_why);
	refuse_modules(comparison);
	err = checks__sides(comparison->sides, &comparison->warnings);
	if (!err)
		err = add_modules(comparison);
	if (!err && !comparison->nr)
		err = -ENODATA;
	return err ? err : conclude(comparison);
}

void comparison__clear(struct comparison *comparison)
{
	side__clear(&comparison->sides[0]);
	side__clear(&comparison->sides[1]);
	notes__clear(&comparison->warnings);
	free(comparison->rows);
	memset(comparison, 0, sizeof(*comparison));
}
