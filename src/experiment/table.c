// SPDX-License-Identifier: BSD-2-Clause
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

#include "fio_result.h"

struct table_row *cell_table__add_row(struct cell_table *table, size_t side)
{
	struct table_row *grown = vec__grow(table->rows, table->nr, sizeof(*grown));

	if (!grown)
		return NULL;
	table->rows = grown;
	grown[table->nr] = (struct table_row){ .side = side };
	return &grown[table->nr++];
}

static struct table_row *add_row(struct cell_table *table, const struct comparison_row *from,
				 size_t side, unsigned int group)
{
	struct table_row *row = cell_table__add_row(table, side);

	if (!row)
		return NULL;
	snprintf(row->probe, RUN_NAME, "%s", from->probe->name);
	snprintf(row->metric, RUN_NAME, "%s", from->probe->metrics[from->metric].name);
	row->tail_ns = from->tail->ns;
	row->events = from->total[group].events;
	memcpy(row->buckets, from->total[group].buckets, sizeof(row->buckets));
	memcpy(row->statistics, from->statistics, sizeof(row->statistics));
	return row;
}

static bool has_reference(const struct cell_table *table, const struct comparison_row *from)
{
	for (size_t i = 0; i < table->nr; i++)
		if (table->rows[i].side == table->experiment->plan.reference &&
		    !strcmp(table->rows[i].probe, from->probe->name) &&
		    !strcmp(table->rows[i].metric, from->probe->metrics[from->metric].name))
			return true;
	return false;
}

/* The values of OFF in the first comparison that has this latency. */
static int add_reference(struct cell_table *table, const struct comparison_row *from)
{
	struct table_row *row;

	if (has_reference(table, from))
		return 0;
	row = add_row(table, from, table->experiment->plan.reference, 0);
	for (unsigned int i = 0; row && i < JUDGE_STATISTICS; i++) {
		double value = from->statistics[i].off;

		row->statistics[i] =
			(struct judged){ value, value, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, { 0 } };
	}
	return row ? 0 : -ENOMEM;
}

static int add_notes(struct cell_table *table, const struct comparison *comparison,
		     const char *name)
{
	int err = 0;

	for (size_t i = 0; !err && i < comparison->warnings.nr; i++)
		err = notes__add(&table->warnings, "%s: %s", name, comparison->warnings.lines[i]);
	for (unsigned int i = 0; !err && i < comparison->nr_refusals; i++)
		err = notes__add(&table->warnings, "%s: %s is not compared: %s", name,
				 comparison->refusals[i].probe, comparison->refusals[i].why);
	return err;
}

static int add_cell(struct cell_table *table, struct experiment *experiment, size_t side)
{
	const struct comparison *comparison = &experiment->comparison;
	const struct plan *plan = &experiment->plan;
	int err =
		experiment__compare(experiment, plan->reference, side, 1 - plan->rules.confidence);

	if (err)
		return err;
	for (size_t i = 0; !err && i < comparison->nr; i++) {
		err = add_reference(table, &comparison->rows[i]);
		if (!err && !add_row(table, &comparison->rows[i], side, 1))
			err = -ENOMEM;
	}
	table->untested += comparison->untested;
	return err ? err : add_notes(table, comparison, plan->sides[side].name);
}

static int by_latency_and_cell(const void *left, const void *right)
{
	const struct table_row *a = left, *b = right;
	int order = strcmp(a->probe, b->probe);

	if (!order)
		order = strcmp(a->metric, b->metric);
	return order ? order : a->side < b->side ? -1 : a->side > b->side;
}

/* The error probability is that of the whole table: Holm's method over all its tests. */
static int conclude(struct cell_table *table)
{
	struct judged **family = calloc(table->nr + 1, sizeof(*family));
	ssize_t tested;

	if (!family)
		return -ENOMEM;
	for (size_t i = 0; i < table->nr; i++)
		family[i] = table->rows[i].statistics;
	tested = judge__verdicts(&table->experiment->plan.rules, family, table->nr);
	free(family);
	if (tested < 0)
		return (int)tested;
	table->tested = (size_t)tested;
	for (size_t i = 0; i < table->nr * JUDGE_STATISTICS; i++) {
		const struct judged *judged =
			&table->rows[i / JUDGE_STATISTICS].statistics[i % JUDGE_STATISTICS];

		if (judged->tested)
			table->verdicts[judged->verdict]++;
	}
	return 0;
}

int cell_table__read(struct cell_table *table, struct experiment *experiment)
{
	int err = 0;

	memset(table, 0, sizeof(*table));
	table->experiment = experiment;
	for (size_t i = 0; !err && i < experiment->plan.nr_sides; i++)
		if (i != experiment->plan.reference)
			err = add_cell(table, experiment, i);
	if (err)
		return err;
	qsort(table->rows, table->nr, sizeof(*table->rows), by_latency_and_cell);
	err = conclude(table);
	return err ? err : fio_result__add_rows(table);
}

void cell_table__clear(struct cell_table *table)
{
	notes__clear(&table->warnings);
	free(table->rows);
	memset(table, 0, sizeof(*table));
}
