// SPDX-License-Identifier: BSD-2-Clause
#include "view_rising.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "view_totals.h"

#define HALF_SLOT_NS 500000 /* a row has the end of its slot of 1 ms */
#define NS_PER_S 1e9

static const struct measure {
	const char *column, *name;
	enum correlation_unit unit;
} measures[RISING_MEASURES] = {
	{ "cpu_ns", "CPU time", CORRELATION_SHARE }, /* first, and always known: see finish() */
	{ "llc_misses", "cache misses", CORRELATION_PER_SECOND },
	{ "llc_bytes", "cache occupancy", CORRELATION_BYTES },
	{ "mbm_total_bytes", "memory traffic", CORRELATION_BYTES_PER_SECOND },
};

static const struct table *find_table(const struct run *run)
{
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (rmid_totals__know(&run->probes[i]))
			return run->probes[i].table;
	return NULL;
}

static int most_cpu_first(const void *left, const void *right)
{
	const struct rising_group *a = left, *b = right;

	return (a->cpu_ns < b->cpu_ns) - (a->cpu_ns > b->cpu_ns);
}

static int by_comm(const void *left, const void *right)
{
	return strcmp(((const struct rising_group *)left)->comm,
		      ((const struct rising_group *)right)->comm);
}

/* Joins groups of the same name. Returns their number. */
static size_t join_names(struct rising_group *groups, size_t nr)
{
	size_t kept = 0;

	qsort(groups, nr, sizeof(*groups), by_comm);
	for (size_t i = 0; i < nr; i++) {
		if (!kept || strcmp(groups[kept - 1].comm, groups[i].comm)) {
			groups[kept++] = groups[i];
			continue;
		}
		groups[kept - 1].processes++;
		groups[kept - 1].cpu_ns += groups[i].cpu_ns;
	}
	qsort(groups, kept, sizeof(*groups), most_cpu_first);
	return kept;
}

static void name_group(struct rising_group *group)
{
	char suffix[40] = "";

	if (group->processes > 1)
		snprintf(suffix, sizeof(suffix), " (%zu processes)", group->processes);
	else if (group->pid)
		snprintf(suffix, sizeof(suffix), " (%lld)", (long long)group->pid);
	memcpy(group->name, group->comm, RUN_NAME);
	group->name[RUN_NAME - sizeof(suffix)] = '\0';
	strcat(group->name, suffix);
}

/* Time without a process, such as that of idle CPUs, has the number 0. */
static size_t list_groups(struct rising_group *groups, const struct rmid_totals *totals)
{
	size_t nr = 0;

	for (size_t i = 0; i < totals->nr; i++) {
		const struct rmid_total *total = &totals->list[i];

		if (!total->process)
			continue;
		snprintf(groups[nr].comm, RUN_NAME, "%s", total->comm);
		groups[nr].pid = total->pid.known ? total->pid.integer : 0;
		groups[nr].processes = 1;
		groups[nr++].cpu_ns = total->sum[ROWS_CPU_NS];
	}
	return join_names(groups, nr);
}

static int choose_groups(struct rising *rising, const struct table *table,
			 bool known[TABLE_COLUMNS])
{
	struct rising_group *groups = NULL;
	struct rmid_totals totals;
	int err = rmid_totals__of(&totals, table, true);
	size_t nr;

	if (!err) {
		groups = calloc(totals.nr + 1, sizeof(*groups));
		err = groups ? 0 : -ENOMEM;
	}
	if (!err) {
		nr = list_groups(groups, &totals);
		rising->nr_groups = nr < RISING_GROUPS ? (unsigned int)nr : RISING_GROUPS;
		memcpy(rising->groups, groups, rising->nr_groups * sizeof(*groups));
		memcpy(known, totals.known, sizeof(totals.known));
	}
	for (unsigned int i = 0; i < rising->nr_groups; i++)
		name_group(&rising->groups[i]);
	free(groups);
	rmid_totals__clear(&totals);
	return err;
}

static int add_series(struct rising *rising, const struct table *table, unsigned int column,
		      const struct measure *measure)
{
	for (unsigned int i = 0; i < rising->nr_groups; i++) {
		struct correlation_series *series = &rising->series[rising->nr];

		series->values = calloc(rising->timeline->nr + 1, sizeof(*series->values));
		if (!series->values)
			return -ENOMEM;
		rising->nr++;
		series->family = CORRELATION_DETAILS;
		series->unit = measure->unit;
		series->table = table;
		series->of = "rmid";
		series->column = column;
		series->key = i;
		series->most = NAN;
		snprintf(series->name, RUN_NAME, "%s", measure->name);
	}
	return 0;
}

/* What was seen of the intervals while rows are added up. */
struct rows {
	const struct table *table;
	size_t at; /* interval of the last row */
	bool *has_rows; /* by interval: it has rows */
	uint32_t *nr; /* by series and interval: rows that have the value */
};

/* Rows arrive some ms after their slot: their time decides, not the interval that has them. */
static void find_interval(const struct timeline *timeline, struct rows *rows, uint64_t time_ns)
{
	uint64_t middle = time_ns > HALF_SLOT_NS ? time_ns - HALF_SLOT_NS : 0;

	while (rows->at && middle < timeline->start_ns[rows->at])
		rows->at--;
	while (rows->at + 1 < timeline->nr && middle >= timeline->end_ns[rows->at])
		rows->at++;
}

/* The group of a row; -1: none of those. */
static int find_group(const struct rising *rising, const struct table *table, size_t row)
{
	struct table_value comm = table__value(table, row, ROWS_COMM);

	if (!comm.known || !table__value(table, row, ROWS_PROCESS).integer)
		return -1;
	for (unsigned int i = 0; i < rising->nr_groups; i++)
		if (!strcmp(rising->groups[i].comm, comm.text))
			return (int)i;
	return -1;
}

/* The series are by measure, and of each measure by group. */
static void add_row(struct rising *rising, struct rows *rows, size_t row)
{
	struct table_value value = table__value(rows->table, row, ROWS_INCOMPLETE);
	size_t nr = rising->timeline->nr;
	int group = find_group(rising, rows->table, row);

	find_interval(rising->timeline, rows, table__time_ns(rows->table, row));
	rows->has_rows[rows->at] = true;
	rising->is_incomplete |= value.known && value.integer;
	if (group < 0)
		return;
	for (unsigned int i = (unsigned int)group; i < rising->nr; i += rising->nr_groups) {
		value = table__value(rows->table, row, rising->series[i].column);
		if (!value.known)
			continue;
		rising->series[i].values[rows->at] += (double)value.integer;
		rows->nr[i * nr + rows->at]++;
	}
}

/*
 * Without a row, a process had no CPU time, and so it had no misses and no traffic. `ran` of its
 * rows have CPU time, `nr` have this value.
 */
static double finish(const struct correlation_series *series, double sum, double ns, uint32_t nr,
		     uint32_t ran)
{
	if (ran && !nr)
		return NAN;
	switch (series->unit) {
	case CORRELATION_SHARE:
		return sum / ns;
	case CORRELATION_BYTES: /* an occupancy stays when the process does not run */
		return nr ? sum / nr : NAN;
	default:
		return sum / ns * NS_PER_S;
	}
}

static void finish_all(struct rising *rising, const struct rows *rows)
{
	const struct timeline *timeline = rising->timeline;

	for (unsigned int i = 0; i < rising->nr; i++) {
		struct correlation_series *series = &rising->series[i];

		for (size_t j = 0; j < timeline->nr; j++) {
			double ns = (double)(timeline->end_ns[j] - timeline->start_ns[j]);

			series->values[j] =
				!rows->has_rows[j] || ns <= 0
					? NAN
					: finish(series, series->values[j], ns,
						 rows->nr[i * timeline->nr + j],
						 rows->nr[series->key * timeline->nr + j]);
			series->most = fmax(series->most, series->values[j]);
		}
	}
}

static int read_rows(struct rising *rising, struct rundb *db, struct rows *rows)
{
	struct run_interval interval;
	int got;

	rundb__rewind(db, false);
	while ((got = rundb__next(db, &interval)) > 0)
		for (size_t row = 0; row < table__rows(rows->table); row++)
			add_row(rising, rows, row);
	if (!got)
		finish_all(rising, rows);
	return got;
}

static int read_values(struct rising *rising, struct rundb *db, const struct table *table)
{
	size_t nr = rising->timeline->nr;
	struct rows rows = { .table = table,
			     .has_rows = calloc(nr + 1, sizeof(*rows.has_rows)),
			     .nr = calloc(rising->nr * nr + 1, sizeof(*rows.nr)) };
	int err = rows.has_rows && rows.nr ? read_rows(rising, db, &rows) : -ENOMEM;

	free(rows.has_rows);
	free(rows.nr);
	return err;
}

int rising__read(struct rising *rising, const struct timeline *timeline, struct rundb *db)
{
	const struct table *table = find_table(timeline->run);
	bool known[TABLE_COLUMNS] = { false };
	int err, column;

	memset(rising, 0, sizeof(*rising));
	rising->timeline = timeline;
	if (!table || !timeline->nr_probes || timeline->nr < 2)
		return 0;
	err = choose_groups(rising, table, known);
	for (unsigned int i = 0; !err && i < RISING_MEASURES; i++) {
		column = table__find_column(table, measures[i].column);
		if (column >= 0 && known[column])
			err = add_series(rising, table, (unsigned int)column, &measures[i]);
	}
	if (err || !rising->nr)
		return err;
	err = read_values(rising, db, table);
	return err ? err : correlation__compare(timeline, rising->series, rising->nr);
}

void rising__clear(struct rising *rising)
{
	for (unsigned int i = 0; i < rising->nr; i++)
		free(rising->series[i].values);
	rising->nr = 0;
}

bool rising__rose(const struct correlation_pair *pair)
{
	return pair->verdict == TIMELINE_POSITIVE && pair->worst > pair->other;
}
