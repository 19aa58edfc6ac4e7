// SPDX-License-Identifier: BSD-2-Clause
#include "correlation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inference.h"

#define NS_PER_S 1e9

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

static int add_series(struct correlation *correlation, enum correlation_family family,
		      const struct table *table, const char *of, unsigned int column, size_t key)
{
	struct correlation_series *series = &correlation->series[correlation->nr];
	size_t nr = correlation->timeline->nr;

	series->values = calloc(nr + 1, sizeof(*series->values));
	if (!series->values)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		series->values[i] = NAN;
	series->family = family;
	series->table = table;
	series->of = of;
	series->column = column;
	series->key = key;
	series->most = NAN;
	correlation->nr++;
	return 0;
}

static int add_keys(struct correlation *correlation, const struct run_probe *probe)
{
	const struct table *table = probe->table;
	int column = table ? find_column(table) : -1, err = 0;
	size_t keys = column < 0 ? 0 : table__keys(table);

	for (size_t key = 0; !err && key < keys && correlation->nr < CORRELATION_KEYS; key++) {
		name_key(correlation->series[correlation->nr].name, table, key);
		err = add_series(correlation, CORRELATION_LATENCY, table, probe->name,
				 (unsigned int)column, key);
	}
	return err;
}

/* "memory_some_ns": "memory some" */
static void name_column(char name[RUN_NAME], const struct table_column *column, bool stalls)
{
	size_t len = strlen(column->name);

	if (stalls && len > 3 && !strcmp(column->name + len - 3, "_ns"))
		len -= 3;
	snprintf(name, RUN_NAME, "%.*s", (int)len, column->name);
	for (char *at = name; (at = strchr(at, '_'));)
		*at = ' ';
}

/* Of the columns of this version, those that the table has. */
static unsigned int pressure_of(const struct table *table)
{
	unsigned int columns = table__columns(table);

	return columns < PRESSURE_COLUMNS ? columns : PRESSURE_COLUMNS;
}

/* Does the table have these columns, or the first ones? A file may contain anything. */
static bool is_pressure(const struct table *table)
{
	if (table__columns(table) < PRESSURE_FIRST_COLUMNS)
		return false;
	for (unsigned int i = 0; i < pressure_of(table); i++)
		if (strcmp(table__column(table, i)->name, pressure_columns[i].name) ||
		    table__column(table, i)->kind != TABLE_INTEGER)
			return false;
	return true;
}

static int add_pressure(struct correlation *correlation, const struct table *table)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < pressure_of(table); i++) {
		struct correlation_series *series = &correlation->series[correlation->nr];

		series->unit =
			i < PRESSURE_MAJOR_FAULTS ? CORRELATION_SHARE : CORRELATION_PER_SECOND;
		name_column(series->name, &pressure_columns[i], series->unit == CORRELATION_SHARE);
		err = add_series(correlation,
				 i <= PRESSURE_IO_SOME ? CORRELATION_PRESSURE : CORRELATION_DETAILS,
				 table, PRESSURE_NAME, i, 0);
	}
	return err;
}

static int start(struct correlation *correlation)
{
	const struct run *run = correlation->timeline->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		err = add_keys(correlation, &run->probes[i]);
	correlation->nr_keys = correlation->nr;
	if (!err && run->pressure.table && is_pressure(run->pressure.table))
		err = add_pressure(correlation, run->pressure.table);
	return err;
}

const struct correlation_series *correlation__pressure(const struct correlation *correlation,
						       enum pressure_column column)
{
	if (column >= correlation->nr - correlation->nr_keys)
		return NULL;
	return &correlation->series[correlation->nr_keys + column];
}

/* A key can have several rows in an interval. */
static double mean_of(const struct correlation_series *series)
{
	size_t nr = 0;
	double sum = 0;

	for (size_t row = 0; row < table__rows(series->table); row++) {
		struct table_value value = table__value(series->table, row, series->column);

		if (!value.known || table__key_of(series->table, row) != series->key)
			continue;
		sum += value.real;
		nr++;
	}
	return nr ? sum / (double)nr : NAN;
}

/* The newest row's value by its length: a share of the time, or a rate. */
static double rate_of(const struct correlation_series *series, uint64_t since_ns)
{
	double unit = series->unit == CORRELATION_SHARE ? 1 : NS_PER_S;
	size_t rows = table__rows(series->table);
	struct table_value value;
	uint64_t at;

	if (!rows)
		return NAN;
	at = table__time_ns(series->table, rows - 1);
	value = table__value(series->table, rows - 1, series->column);
	if (!value.known || at <= since_ns)
		return NAN;
	return (double)value.integer / (double)(at - since_ns) * unit;
}

static void take_values(struct correlation *correlation, size_t at, uint64_t since_ns)
{
	for (unsigned int i = 0; i < correlation->nr; i++) {
		struct correlation_series *series = &correlation->series[i];

		series->values[at] = series->family == CORRELATION_LATENCY
					     ? mean_of(series)
					     : rate_of(series, since_ns);
		series->most = fmax(series->most, series->values[at]);
	}
}

/* The pressure is read a little after the end of an interval, which its rows know. */
static int read_values(struct correlation *correlation, struct rundb *db)
{
	const struct table *pressure = correlation->timeline->run->pressure.table;
	struct run_interval interval;
	uint64_t since_ns = 0, read_ns;
	int got;

	rundb__rewind(db, false);
	for (size_t i = 0; i < correlation->timeline->nr; i++) {
		got = rundb__next(db, &interval);
		if (got <= 0)
			return got ? got : -EUCLEAN;
		if (!i)
			since_ns = interval.start_ns;
		take_values(correlation, i, since_ns);
		if (!pressure || !table__rows(pressure))
			continue;
		read_ns = table__time_ns(pressure, table__rows(pressure) - 1);
		correlation->read_ns[i] = read_ns > since_ns ? read_ns - since_ns : 0;
		since_ns = read_ns;
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

/* Why the pair was not tested. `nr` intervals have a value, `slow` of them slow events. */
static void explain(struct correlation_pair *pair, const struct timeline_probe *probe,
		    const struct correlation_series *series, size_t nr, size_t slow)
{
	if (!nr)
		snprintf(pair->why, CORRELATION_WHY, "it is unknown");
	else if (series->most <= 0)
		snprintf(pair->why, CORRELATION_WHY, "there was none in %zu interval%s", nr,
			 nr == 1 ? "" : "s");
	else if (nr < TIMELINE_LEAST_INTERVALS)
		snprintf(pair->why, CORRELATION_WHY, "too few intervals: %zu, %d are needed", nr,
			 TIMELINE_LEAST_INTERVALS);
	else if (slow < TIMELINE_LEAST_SLOW)
		snprintf(pair->why, CORRELATION_WHY,
			 "%.20s has slow events in %zu interval%s, %d are needed",
			 probe->probe->name, slow, slow == 1 ? "" : "s", TIMELINE_LEAST_SLOW);
	else if (isnan(pair->found.rho))
		snprintf(pair->why, CORRELATION_WHY, "one of the two does not vary");
	else
		snprintf(pair->why, CORRELATION_WHY,
			 "too few effective intervals: %.2g of %zu, %d are needed "
			 "(autocorrelation)",
			 pair->found.effective, nr, RANKS_LEAST_EFFECTIVE);
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
	if (!err && isnan(pair->found.p))
		explain(pair, probe, series, nr, slow);
	return err;
}

static int fill_in(const struct timeline *timeline, struct correlation_series *series)
{
	int err = 0;

	for (unsigned int j = 0; !err && j < timeline->nr_probes; j++) {
		struct correlation_pair *pair = &series->pairs[j];

		pair->found = (struct ranks_correlation){ NAN, 0, NAN, NAN, NAN };
		pair->adjusted = NAN;
		compare_means(&timeline->probes[j], series, timeline->nr, pair);
		err = correlate(timeline, &timeline->probes[j], series, pair);
	}
	return err;
}

static void conclude(struct correlation_pair *pair, double alpha)
{
	if (pair->adjusted <= alpha)
		pair->verdict = pair->found.rho > 0 ? TIMELINE_POSITIVE : TIMELINE_NEGATIVE;
}

/* The tests of these series with all probes are corrected together. */
static int judge(const struct timeline *timeline, struct correlation_series *series,
		 unsigned int nr_series)
{
	size_t most = (size_t)nr_series * timeline->nr_probes, nr = 0;
	struct correlation_pair **tested = calloc(most + 1, sizeof(struct correlation_pair *));
	double *p = calloc(most + 1, sizeof(*p));
	int err = tested && p ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < most; i++) {
		struct correlation_pair *pair =
			&series[i / timeline->nr_probes].pairs[i % timeline->nr_probes];

		if (isnan(pair->found.p))
			continue;
		tested[nr] = pair;
		p[nr++] = pair->found.p;
	}
	if (!err)
		err = holm__adjust(p, nr);
	for (size_t i = 0; !err && i < nr; i++) {
		tested[i]->adjusted = p[i];
		conclude(tested[i], 1 - timeline->rules.confidence);
	}
	free(tested);
	free(p);
	return err;
}

int correlation__compare(const struct timeline *timeline, struct correlation_series *series,
			 unsigned int nr)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < nr; i++)
		err = fill_in(timeline, &series[i]);
	return err ? err : judge(timeline, series, nr);
}

/* The series of a family follow each other. */
static int compare_families(struct correlation *correlation)
{
	unsigned int first = 0, next;
	int err = 0;

	for (; !err && first < correlation->nr; first = next) {
		next = first;
		while (next < correlation->nr &&
		       correlation->series[next].family == correlation->series[first].family)
			next++;
		err = correlation__compare(correlation->timeline, &correlation->series[first],
					   next - first);
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
	correlation->read_ns = calloc(timeline->nr + 1, sizeof(*correlation->read_ns));
	if (!correlation->read_ns)
		return -ENOMEM;
	err = read_values(correlation, db);
	return err ? err : compare_families(correlation);
}

void correlation__clear(struct correlation *correlation)
{
	for (unsigned int i = 0; i < correlation->nr; i++)
		free(correlation->series[i].values);
	free(correlation->read_ns);
	correlation->read_ns = NULL;
	correlation->nr = 0;
}
