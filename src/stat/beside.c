// SPDX-License-Identifier: BSD-2-Clause
#include "beside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holm.h"

/* The first that is a time; -1: the table has none, so nothing of it stands beside a latency. */
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

static int add_series(struct beside *beside, const struct run_module *module, unsigned int column,
		      size_t key)
{
	struct beside_series *series = &beside->series[beside->nr];
	size_t nr = beside->timeline->nr;

	series->values = calloc(nr + 1, sizeof(*series->values));
	if (!series->values)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		series->values[i] = NAN;
	series->module = module;
	series->column = column;
	series->key = key;
	name_key(series->name, module->table, key);
	beside->nr++;
	return 0;
}

static int start(struct beside *beside)
{
	const struct run *run = beside->timeline->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_modules; i++) {
		const struct table *table = run->modules[i].table;
		int column = table ? find_column(table) : -1;
		size_t keys = column < 0 ? 0 : table__keys(table);

		for (size_t key = 0; !err && key < keys && beside->nr < BESIDE_SERIES; key++)
			err = add_series(beside, &run->modules[i], (unsigned int)column, key);
	}
	return err;
}

/* The rows of an interval may be several of a key. */
static double mean_of(const struct beside_series *series)
{
	const struct table *table = series->module->table;
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

static int read_values(struct beside *beside, struct rundb *db)
{
	struct run_interval interval;
	int got;

	rundb__rewind(db, false);
	for (size_t i = 0; i < beside->timeline->nr; i++) {
		got = rundb__next(db, &interval);
		if (got <= 0)
			return got ? got : -EUCLEAN;
		for (unsigned int j = 0; j < beside->nr; j++)
			beside->series[j].values[i] = mean_of(&beside->series[j]);
	}
	return 0;
}

static void compare_means(const struct timeline_module *module, const struct beside_series *series,
			  size_t nr, struct beside_figure *figure)
{
	double worst = 0, other = 0;

	for (size_t i = 0; i < nr; i++) {
		if (isnan(series->values[i]))
			continue;
		if (module->is_worst[i]) {
			worst += series->values[i];
			figure->worst_nr++;
		} else {
			other += series->values[i];
			figure->other_nr++;
		}
	}
	figure->worst = figure->worst_nr ? worst / (double)figure->worst_nr : NAN;
	figure->other = figure->other_nr ? other / (double)figure->other_nr : NAN;
}

/* Over the intervals in which the value is known. */
static int correlate(const struct timeline *timeline, const struct timeline_module *module,
		     const struct beside_series *series, struct beside_figure *figure)
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
		slow += module->cells[i].slow > 0;
		pairs[nr] = module->scores[i];
		pairs[timeline->nr + nr++] = series->values[i];
	}
	if (nr >= TIMELINE_LEAST_INTERVALS && slow >= TIMELINE_LEAST_SLOW)
		err = ranks__correlate(pairs, pairs + timeline->nr, nr, timeline->rules.confidence,
				       &figure->found);
	free(pairs);
	return err;
}

static int fill_in(struct beside *beside)
{
	const struct timeline *timeline = beside->timeline;
	int err = 0;

	for (unsigned int i = 0; i < beside->nr; i++) {
		struct beside_series *series = &beside->series[i];

		for (unsigned int j = 0; !err && j < timeline->nr_modules; j++) {
			struct beside_figure *figure = &series->figures[j];

			figure->found = (struct ranks_correlation){ NAN, 0, NAN, NAN, NAN };
			figure->adjusted = NAN;
			compare_means(&timeline->modules[j], series, timeline->nr, figure);
			err = correlate(timeline, &timeline->modules[j], series, figure);
		}
	}
	return err;
}

static void conclude(struct beside_figure *figure, double alpha)
{
	if (figure->adjusted <= alpha)
		figure->verdict = figure->found.rho > 0 ? TIMELINE_TOGETHER : TIMELINE_OPPOSED;
}

/* All keys beside all modules are one family. */
static int judge(struct beside *beside)
{
	double p[BESIDE_SERIES * RUN_MODULES], alpha = 1 - beside->timeline->rules.confidence;
	struct beside_figure *tested[BESIDE_SERIES * RUN_MODULES];
	unsigned int nr = 0;
	int err;

	for (unsigned int i = 0; i < beside->nr; i++) {
		for (unsigned int j = 0; j < beside->timeline->nr_modules; j++) {
			struct beside_figure *figure = &beside->series[i].figures[j];

			if (isnan(figure->found.p))
				continue;
			tested[nr] = figure;
			p[nr++] = figure->found.p;
		}
	}
	err = holm__adjust(p, nr);
	for (unsigned int i = 0; !err && i < nr; i++) {
		tested[i]->adjusted = p[i];
		conclude(tested[i], alpha);
	}
	return err;
}

int beside__read(struct beside *beside, const struct timeline *timeline, struct rundb *db)
{
	int err;

	memset(beside, 0, sizeof(*beside));
	beside->timeline = timeline;
	if (!timeline->nr_modules)
		return 0;
	err = start(beside);
	if (err || !beside->nr)
		return err;
	err = read_values(beside, db);
	if (!err)
		err = fill_in(beside);
	return err ? err : judge(beside);
}

void beside__clear(struct beside *beside)
{
	for (unsigned int i = 0; i < beside->nr; i++)
		free(beside->series[i].values);
	beside->nr = 0;
}
