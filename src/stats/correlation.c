// SPDX-License-Identifier: BSD-2-Clause
#include "correlation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inference.h"

/* The first column that is a time; -1: the table has none, so it has no covariates. */
static int find_column(const struct table *table)
{
	for (unsigned int i = 0; i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);

		if (column->kind == TABLE_REAL && !column->key && !strcmp(column->unit, "ns"))
			return (int)i;
	}
	return -1;
}

static void name_key(char name[RUN_NAME], const struct table *table, size_t key)
{
	size_t len = 0;

	name[0] = '\0';
	for (unsigned int i = 0; i < table__columns(table) && len < RUN_NAME - 1; i++) {
		const struct table_column *column = table__column(table, i);
		struct table_value value = table__key(table, key, i);

		if (!column->key || !value.known)
			continue;
		if (value.kind == TABLE_TEXT)
			snprintf(name + len, RUN_NAME - len, "%s%s %s", len ? ", " : "",
				 column->name, value.text);
		else
			snprintf(name + len, RUN_NAME - len, "%s%s %.10g", len ? ", " : "",
				 column->name,
				 value.kind == TABLE_REAL ? value.real : (double)value.integer);
		len = strlen(name);
	}
}

static int add_series(struct correlation *correlation, const struct run_probe *probe,
		      unsigned int column, size_t key)
{
	struct correlation_series *series = &correlation->series[correlation->nr];
	size_t nr = correlation->timeline->nr;

	series->values = calloc(nr + 1, sizeof(*series->values));
	if (!series->values)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		series->values[i] = NAN;
	series->probe = probe;
	series->column = column;
	series->key = key;
	name_key(series->name, probe->table, key);
	correlation->nr++;
	return 0;
}

static int start(struct correlation *correlation)
{
	const struct run *run = correlation->timeline->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		const struct table *table = run->probes[i].table;
		int column = table ? find_column(table) : -1;
		size_t keys = column < 0 ? 0 : table__keys(table);

		for (size_t key = 0; !err && key < keys && correlation->nr < CORRELATION_SERIES;
		     key++)
			err = add_series(correlation, &run->probes[i], (unsigned int)column, key);
	}
	return err;
}

/* A key can have several rows in an interval. */
static double mean_of(const struct correlation_series *series)
{
	const struct table *table = series->probe->table;
	size_t nr = 0;
	double sum = 0;

	for (size_t row = 0; row < table__rows(table); row++) {
		struct table_value value = table__value(table, row, series->column);

		if (!value.known || table__key_of(table, row) != series->key)
			continue;
		sum += value.real;
		nr++;
	}
	return nr ? sum / (double)nr : NAN;
}

static int read_values(struct correlation *correlation, struct rundb *db)
{
	struct run_interval interval;
	int got;

	rundb__rewind(db, false);
	for (size_t i = 0; i < correlation->timeline->nr; i++) {
		got = rundb__next(db, &interval);
		if (got <= 0)
			return got ? got : -EUCLEAN;
		for (unsigned int j = 0; j < correlation->nr; j++)
			correlation->series[j].values[i] = mean_of(&correlation->series[j]);
	}
	return 0;
}

static void compare_means(const struct timeline_probe *probe,
			  const struct correlation_series *series, size_t nr,
			  struct correlation_pair *pair)
{
	double worst = 0, other = 0;

	for (size_t i = 0; i < nr; i++) {
		if (isnan(series->values[i]))
			continue;
		if (probe->is_worst[i]) {
			worst += series->values[i];
			pair->worst_nr++;
		} else {
			other += series->values[i];
			pair->other_nr++;
		}
	}
	pair->worst = pair->worst_nr ? worst / (double)pair->worst_nr : NAN;
	pair->other = pair->other_nr ? other / (double)pair->other_nr : NAN;
}

/* Uses the intervals in which the value is known. */
static int correlate(const struct timeline *timeline, const struct timeline_probe *probe,
		     const struct correlation_series *series, struct correlation_pair *pair)
{
	size_t nr = 0, slow = 0;
	double *pairs;
	int err = 0;

	pairs = calloc(2 * timeline->nr + 1, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->nr; i++) {
		if (isnan(series->values[i]))
			continue;
		slow += probe->cells[i].slow > 0;
		pairs[nr] = probe->scores[i];
		pairs[timeline->nr + nr++] = series->values[i];
	}
	if (nr >= TIMELINE_LEAST_INTERVALS && slow >= TIMELINE_LEAST_SLOW)
		err = ranks__correlate(pairs, pairs + timeline->nr, nr, timeline->rules.confidence,
				       &pair->found);
	free(pairs);
	return err;
}

static int fill_in(struct correlation *correlation)
{
	const struct timeline *timeline = correlation->timeline;
	int err = 0;

	for (unsigned int i = 0; i < correlation->nr; i++) {
		struct correlation_series *series = &correlation->series[i];

		for (unsigned int j = 0; !err && j < timeline->nr_probes; j++) {
			struct correlation_pair *pair = &series->pairs[j];

			pair->found = (struct ranks_correlation){ NAN, 0, NAN, NAN, NAN };
			pair->adjusted = NAN;
			compare_means(&timeline->probes[j], series, timeline->nr, pair);
			err = correlate(timeline, &timeline->probes[j], series, pair);
		}
	}
	return err;
}

static void conclude(struct correlation_pair *pair, double alpha)
{
	if (pair->adjusted <= alpha)
		pair->verdict = pair->found.rho > 0 ? TIMELINE_POSITIVE : TIMELINE_NEGATIVE;
}

/* The tests of all keys with all probes are corrected together. */
static int judge(struct correlation *correlation)
{
	double p[CORRELATION_SERIES * RUN_PROBES],
		alpha = 1 - correlation->timeline->rules.confidence;
	struct correlation_pair *tested[CORRELATION_SERIES * RUN_PROBES];
	unsigned int nr = 0;
	int err;

	for (unsigned int i = 0; i < correlation->nr; i++) {
		for (unsigned int j = 0; j < correlation->timeline->nr_probes; j++) {
			struct correlation_pair *pair = &correlation->series[i].pairs[j];

			if (isnan(pair->found.p))
				continue;
			tested[nr] = pair;
			p[nr++] = pair->found.p;
		}
	}
	err = holm__adjust(p, nr);
	for (unsigned int i = 0; !err && i < nr; i++) {
		tested[i]->adjusted = p[i];
		conclude(tested[i], alpha);
	}
	return err;
}

int correlation__read(struct correlation *correlation, const struct timeline *timeline,
		      struct rundb *db)
{
	int err;

	memset(correlation, 0, sizeof(*correlation));
	correlation->timeline = timeline;
	if (!timeline->nr_probes)
		return 0;
	err = start(correlation);
	if (err || !correlation->nr)
		return err;
	err = read_values(correlation, db);
	if (!err)
		err = fill_in(correlation);
	return err ? err : judge(correlation);
}

void correlation__clear(struct correlation *correlation)
{
	for (unsigned int i = 0; i < correlation->nr; i++)
		free(correlation->series[i].values);
	correlation->nr = 0;
}
