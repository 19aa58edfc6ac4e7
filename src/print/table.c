// SPDX-License-Identifier: BSD-2-Clause
#include <json-c/json.h>

#include <core/table.h>
#include <store/csv.h>
#include <store/json.h>

#include "wrap.h"

#define NUMBER 32
#define PRECISION "%.10g" /* more than any counter's accuracy, and short for round numbers */

void table__csv_head(FILE *out, const struct table *table)
{
	fputs("time_ns", out);
	for (unsigned int i = 0; i < table__columns(table); i++)
		fprintf(out, ",%s", table__column(table, i)->name);
	fputc('\n', out);
}

static void csv_value(FILE *out, const struct table_value *value)
{
	fputc(',', out);
	if (!value->known)
		return;
	switch (value->kind) {
	case TABLE_INTEGER:
		fprintf(out, "%lld", (long long)value->integer);
		break;
	case TABLE_REAL:
		fprintf(out, PRECISION, value->real);
		break;
	default:
		csv__field(out, value->text);
	}
}

void table__csv_rows(FILE *out, const struct table *table)
{
	for (size_t row = 0; row < table__rows(table); row++) {
		fprintf(out, "%llu", (unsigned long long)table__time_ns(table, row));
		for (unsigned int i = 0; i < table__columns(table); i++) {
			struct table_value value = table__value(table, row, i);

			csv_value(out, &value);
		}
		fputc('\n', out);
	}
}

static struct json_object *json_real(double value)
{
	char text[NUMBER];

	snprintf(text, sizeof(text), PRECISION, value);
	return json_object_new_double_s(value, text);
}

static struct json_object *json_value(const struct table_value *value)
{
	if (!value->known)
		return NULL;
	switch (value->kind) {
	case TABLE_INTEGER:
		return json_object_new_int64(value->integer);
	case TABLE_REAL:
		return json_real(value->real);
	default:
		return json_object_new_string(value->text);
	}
}

static void put(struct json_object *to, const char *name, struct json_object *value)
{
	json_object_object_add(to, name, value);
}

struct json_object *table__json_row(const struct table *table, size_t row)
{
	struct json_object *object = json_object_new_object();

	put(object, "time_ns", json_object_new_uint64(table__time_ns(table, row)));
	for (unsigned int i = 0; i < table__columns(table); i++) {
		struct table_value value = table__value(table, row, i);

		put(object, table__column(table, i)->name, json_value(&value));
	}
	return object;
}

struct json_object *table__json_columns(const struct table *table)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);
		struct json_object *object = json_object_new_object();

		put(object, "name", json_object_new_string(column->name));
		put(object, "unit", column->unit[0] ? json_object_new_string(column->unit) : NULL);
		put(object, "what", json_object_new_string(column->what));
		put(object, "key", json_object_new_boolean(column->key));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_figure(const struct table_aggregate *figure)
{
	struct json_object *object = json_object_new_object();
	bool any = figure->rows;

	put(object, "rows", json_object_new_uint64(figure->rows));
	put(object, "mean", any ? json_real(figure->sum / (double)figure->rows) : NULL);
	put(object, "min", any ? json_real(figure->low) : NULL);
	put(object, "max", any ? json_real(figure->high) : NULL);
	return object;
}

/* Is it a column that the digest has figures of? */
static bool is_figure(const struct table *table, unsigned int column)
{
	const struct table_column *of = table__column(table, column);

	return !of->key && of->kind != TABLE_TEXT;
}

static struct json_object *json_key(const struct table *table, size_t key)
{
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);
		struct table_value value = table__key(table, key, i);

		if (column->key)
			put(object, column->name, json_value(&value));
		else if (is_figure(table, i))
			put(object, column->name, json_figure(table__aggregate(table, key, i)));
	}
	return object;
}

static struct json_object *make_row(const void *table, size_t row)
{
	return table__json_row(table, row);
}

struct json_object *table__json_rows(const struct table *table)
{
	return json__array(table__rows(table), make_row, table);
}

static struct json_object *make_key(const void *table, size_t key)
{
	return json_key(table, key);
}

struct json_object *table__json_top_k(const struct table *table)
{
	return json__array(table__keys(table), make_key, table);
}

struct json_object *table__json_others(const struct table *table)
{
	struct json_object *object;

	if (!table__others_keys(table))
		return NULL;
	object = json_object_new_object();
	put(object, "keys", json_object_new_uint64(table__others_keys(table)));
	put(object, "most", json_real(table__others_most(table)));
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (is_figure(table, i))
			put(object, table__column(table, i)->name,
			    json_figure(table__others(table, i)));
	return object;
}

static void add_value(struct wrap *wrap, const struct table_column *column,
		      const struct table_value *value)
{
	wrap__add(wrap, "%s%s ", wrap->len ? ", " : "", column->name);
	if (!value->known)
		wrap__add(wrap, "-");
	else if (value->kind == TABLE_INTEGER)
		wrap__add(wrap, "%lld", (long long)value->integer);
	else if (value->kind == TABLE_REAL)
		wrap__add(wrap, "%.6g", value->real);
	else
		wrap__add(wrap, "%s", value->text);
}

void table__text_rows(FILE *out, const char *probe, const struct table *table)
{
	struct wrap wrap = { 0 };

	for (size_t row = 0; row < table__rows(table); row++) {
		wrap__add(&wrap, "%8.3f s  %s", (double)table__time_ns(table, row) / 1e9, probe);
		for (unsigned int i = 0; i < table__columns(table); i++) {
			struct table_value value = table__value(table, row, i);

			add_value(&wrap, table__column(table, i), &value);
		}
		wrap__print(&wrap, out, 0, 12);
	}
}

static void text_figure(FILE *out, const struct table_column *column,
			const struct table_aggregate *figure)
{
	double mean = figure->rows ? figure->sum / (double)figure->rows : 0;

	fprintf(out, "  %-28.28s", column->name);
	if (figure->rows)
		fprintf(out, " %11.5g %11.5g %11.5g %8llu\n", mean, figure->low, figure->high,
			(unsigned long long)figure->rows);
	else
		fprintf(out, " %11s %11s %11s %8d\n", "-", "-", "-", 0);
}

static void text_key(FILE *out, const struct table *table, size_t key)
{
	struct wrap wrap = { 0 };

	for (unsigned int i = 0; i < table__columns(table); i++) {
		struct table_value value = table__key(table, key, i);

		if (table__column(table, i)->key)
			add_value(&wrap, table__column(table, i), &value);
	}
	if (wrap.len) {
		fputc('\n', out);
		wrap__print(&wrap, out, 0, 2);
	}
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (is_figure(table, i))
			text_figure(out, table__column(table, i), table__aggregate(table, key, i));
}

static void text_others(FILE *out, const struct table *table)
{
	fprintf(out, "\n%llu of the smallest, in total\n",
		(unsigned long long)table__others_keys(table));
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (is_figure(table, i))
			text_figure(out, table__column(table, i), table__others(table, i));
}

void table__text_top_k(FILE *out, const struct table *table, unsigned int top)
{
	size_t keys = table__keys(table), shown = top && top < keys ? top : keys;

	fprintf(out, "\n  %-28s %11s %11s %11s %8s\n", "over all rows", "mean", "min", "max",
		"rows");
	for (size_t key = 0; key < shown; key++)
		text_key(out, table, key);
	if (shown < keys)
		fprintf(out, "\n%zu more\n", keys - shown);
	if (table__others_keys(table))
		text_others(out, table);
}
