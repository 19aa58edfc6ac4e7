// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>
#include <core/units.h>
#include <print/compare.h>
#include <print/wrap.h>
#include <store/csv.h>
#include <store/json_print.h>

#include "table.h"

#define CELL 19 /* columns */
#define REASONS 10 /* lines; of warnings, too */

static const struct plan_side *side_of(const struct cell_table *table, size_t side)
{
	return &table->experiment->plan.sides[side];
}

static bool is_wanted(const struct cell_table *table, unsigned int statistic)
{
	return table->experiment->plan.rules.statistics & 1U << statistic;
}

/* ---- text ---- */

static void print_title(FILE *out, const struct table_row *row)
{
	char tail[UNITS_TEXT];

	fprintf(out, "\n%s %s", row->probe, row->metric);
	if (row->tail_ns)
		fprintf(out, ", tail: %s or more", units__duration(tail, row->tail_ns));
	if (row->unjudged)
		fputs(": completion latency by its own clock; not judged", out);
	fprintf(out, "\n%-*s %16s %7s %15s %s\n", CELL, "cell", "value", "ratio", "interval",
		"verdict");
}

static void print_statistic(FILE *out, const struct cell_table *table, const struct table_row *row,
			    unsigned int statistic, bool color)
{
	const struct judged *judged = &row->statistics[statistic];

	compare__print_value(out, judged, statistic);
	if (row->side == table->experiment->plan.reference) {
		fputs("                         reference\n", out);
	} else if (row->unjudged) {
		compare__print_ratio(out, judged);
		fputc('\n', out);
	} else {
		compare__print_judged(out, judged, color);
	}
}

/* A long name has a line of its own. */
static void print_row(FILE *out, const struct cell_table *table, const struct table_row *row,
		      bool color)
{
	char name[PATH_MAX];
	size_t columns;

	sanitize__text(name, sizeof(name), side_of(table, row->side)->name);
	columns = sanitize__columns(name, strlen(name));
	if (columns > CELL) {
		fprintf(out, "%s\n", name);
		columns = 0;
		name[0] = '\0';
	}
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++) {
		if (!is_wanted(table, i) || (row->unjudged && isnan(row->statistics[i].on)))
			continue;
		fprintf(out, "%s%*s", name, (int)(CELL + 1 - columns), "");
		print_statistic(out, table, row, i, color);
		columns = 0;
		name[0] = '\0';
	}
}

static bool is_known(const struct cell_table *table, size_t nr, const char *why)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(table->rows[i / JUDGE_STATISTICS].statistics[i % JUDGE_STATISTICS].why,
			    why))
			return true;
	return false;
}

static void print_more(FILE *out, size_t nr, const char *what)
{
	if (nr > REASONS)
		fprintf(out, "and %zu more %s; --json has them\n", nr - REASONS, what);
}

/* Each reason once. They and warnings call the reference OFF and a cell ON, as compare does. */
static size_t print_reasons(FILE *out, const struct cell_table *table)
{
	struct wrap wrap = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < table->nr * JUDGE_STATISTICS; i++) {
		const struct judged *judged =
			&table->rows[i / JUDGE_STATISTICS].statistics[i % JUDGE_STATISTICS];

		if (!judged->why[0] || !is_wanted(table, i % JUDGE_STATISTICS) ||
		    is_known(table, i, judged->why) || ++nr > REASONS)
			continue;
		wrap__add(&wrap, "%s%s", judged->tested ? "" : "cannot tell: ", judged->why);
		wrap__print(&wrap, out, 0, 2);
	}
	print_more(out, nr, "reasons");
	return nr;
}

static size_t print_warnings(FILE *out, const struct cell_table *table)
{
	struct wrap wrap = { 0 };

	for (size_t i = 0; i < table->warnings.nr && i < REASONS; i++) {
		wrap__add(&wrap, "warning: %s", table->warnings.lines[i]);
		wrap__print(&wrap, out, 0, 2);
	}
	print_more(out, table->warnings.nr, "warnings");
	return table->warnings.nr;
}

static void print_sum(FILE *out, const struct cell_table *table)
{
	const struct plan *plan = &table->experiment->plan;

	fprintf(out, "matrix: %zu cells, %zu run%s of each, in random order\n", plan->nr_sides,
		plan->planned, plan->planned == 1 ? "" : "s");
	fprintf(out,
		"verdicts: %zu worse, %zu better, %zu more, %zu fewer, %zu without a difference",
		table->verdicts[JUDGE_WORSE], table->verdicts[JUDGE_BETTER],
		table->verdicts[JUDGE_MORE], table->verdicts[JUDGE_FEWER],
		table->verdicts[JUDGE_NO_DIFFERENCE]);
	if (table->untested)
		fprintf(out, ",\n%zu cannot tell", table->untested);
	fprintf(out,
		";\n%.6g %% confidence for all of them together; OFF: the reference, ON: a cell\n",
		plan->rules.confidence * 100);
}

void cell_table__print_text(FILE *out, const struct cell_table *table, bool color)
{
	const struct table_row *before = NULL;

	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];

		if (!before || strcmp(row->probe, before->probe) != 0 ||
		    strcmp(row->metric, before->metric) != 0)
			print_title(out, row);
		print_row(out, table, row, color);
		before = row;
	}
	fputc('\n', out);
	if (print_reasons(out, table) + print_warnings(out, table))
		fputc('\n', out);
	print_sum(out, table);
}

/* ---- CSV and JSON ---- */

void cell_table__print_csv(FILE *out, const struct cell_table *table)
{
	compare__csv_head(out, "cell,probe,metric", "reference", "value");
	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];
		struct judge_rules rules = table->experiment->plan.rules;

		if (row->unjudged || row->side == table->experiment->plan.reference)
			rules.statistics = 0; /* it has no verdict */
		for (unsigned int j = 0; j < JUDGE_STATISTICS; j++) {
			csv__field(out, side_of(table, row->side)->name);
			csv__next_field(out, row->probe);
			csv__next_field(out, row->metric);
			compare__csv_statistic(out, &rules, &row->statistics[j], j);
		}
	}
}

static struct json_object *row_json(const struct cell_table *table, const struct table_row *row)
{
	struct json_object *object = json_object_new_object();
	struct json_object *array = json_object_new_array();
	struct judge_rules rules = table->experiment->plan.rules;

	if (row->unjudged || row->side == table->experiment->plan.reference)
		rules.statistics = 0;
	fields__text(object, "cell", side_of(table, row->side)->name);
	fields__text(object, "probe", row->probe);
	fields__text(object, "metric", row->metric);
	if (!row->unjudged)
		fields__count(object, "events", row->events);
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		json_object_array_add(array,
				      compare__json_statistic(&rules, &row->statistics[i], i));
	json_object_object_add(object, "statistics", array);
	return object;
}

static struct json_object *cells_json(const struct cell_table *table)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < table->experiment->plan.nr_sides; i++) {
		struct json_object *cell = json_object_new_object();

		fields__text(cell, "name", side_of(table, i)->name);
		fields__text(cell, "command", side_of(table, i)->command);
		json_object_array_add(array, cell);
	}
	return array;
}

int cell_table__print_json(FILE *out, const struct cell_table *table)
{
	const struct plan *plan = &table->experiment->plan;
	struct json_object *object = json_object_new_object();
	struct json_object *rows = json_object_new_array();
	struct json_object *warnings = json_object_new_array();

	fields__text(object, "directory", table->experiment->path);
	fields__count(object, "runs", plan->planned);
	fields__count(object, "seed", plan->seed);
	fields__number(object, "confidence", plan->rules.confidence);
	fields__text(object, "reference", plan->sides[plan->reference].name);
	fields__count(object, "statistics_tested", table->tested);
	json_object_object_add(object, "cells", cells_json(table));
	for (size_t i = 0; i < table->nr; i++)
		json_object_array_add(rows, row_json(table, &table->rows[i]));
	json_object_object_add(object, "rows", rows);
	for (size_t i = 0; i < table->warnings.nr; i++)
		json_object_array_add(warnings, json_object_new_string(table->warnings.lines[i]));
	json_object_object_add(object, "warnings", warnings);
	return json__print(object, out, true);
}
