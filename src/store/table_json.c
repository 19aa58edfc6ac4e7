// SPDX-License-Identifier: BSD-2-Clause
/* Tables of probes as JSON. */
#include "json.h"

#include <string.h>

#include <json-c/json.h>

static struct json_object *json_real(double value)
{
	char text[32];

	snprintf(text, sizeof(text), TABLE_PRECISION, value);
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

struct json_object *table__json_row(const struct table *table, size_t row)
{
	struct json_object *object = json_object_new_object();

	fields__count(object, "time_ns", table__time_ns(table, row));
	for (unsigned int i = 0; i < table__columns(table); i++) {
		struct table_value value = table__value(table, row, i);

		fields__put(object, table__column(table, i)->name, json_value(&value));
	}
	return object;
}

static struct json_object *make_column(const void *table, size_t at)
{
	const struct table_column *column = table__column(table, (unsigned int)at);
	struct json_object *object = json_object_new_object();

	fields__text(object, "name", column->name);
	fields__text(object, "unit", column->unit[0] ? column->unit : NULL);
	fields__text(object, "what", column->what);
	fields__flag(object, "key", column->key);
	return object;
}

struct json_object *table__json_columns(const struct table *table)
{
	return json__list(table__columns(table), make_column, table);
}

/* Do the rows of the column add up? Times that are counted do, rates and sizes do not. */
static bool adds_up(const struct table_column *column)
{
	return column->kind == TABLE_INTEGER && !strcmp(column->unit, "ns");
}

static struct json_object *json_aggregate(const struct table_column *column,
					  const struct table_aggregate *aggregate, double mean)
{
	struct json_object *object = json_object_new_object();
	bool known = aggregate->rows;

	fields__count(object, "rows", aggregate->rows);
	fields__put(object, "mean", known ? json_real(mean) : NULL);
	fields__put(object, "min", known ? json_real(aggregate->low) : NULL);
	fields__put(object, "max", known ? json_real(aggregate->high) : NULL);
	if (adds_up(column))
		fields__count(object, "sum", (uint64_t)aggregate->sum);
	return object;
}

/* A key of the sketch, with those columns that the sketch has sums of. */
static struct json_object *json_key(const struct table *table, size_t key)
{
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);
		struct table_value value = table__key(table, key, i);

		if (column->key)
			fields__put(object, column->name, json_value(&value));
		else if (table__is_number(table, i))
			fields__put(object, column->name,
				    json_aggregate(column, table__aggregate(table, key, i),
						   table__mean(table, key, i).real));
	}
	return object;
}

static struct json_object *make_row(const void *table, size_t row)
{
	return table__json_row(table, row);
}

struct json_object *table__json_rows(const struct table *table)
{
	return json__array(table__rows(table), make_row, (void *)table, NULL);
}

static struct json_object *make_key(const void *table, size_t key)
{
	return json_key(table, key);
}

struct json_object *table__json_top_k(const struct table *table)
{
	return json__array(table__keys(table), make_key, (void *)table, NULL);
}

struct json_object *table__json_others(const struct table *table)
{
	struct json_object *object;

	if (!table__others_keys(table))
		return NULL;
	object = json_object_new_object();
	fields__count(object, "keys", table__others_keys(table));
	fields__put(object, "most", json_real(table__others_most(table)));
	for (unsigned int i = 0; i < table__columns(table); i++) {
		const struct table_aggregate *others = table__others(table, i);

		if (table__is_number(table, i))
			fields__put(object, table__column(table, i)->name,
				    json_aggregate(table__column(table, i), others,
						   others->rows ? others->sum / (double)others->rows
								: 0));
	}
	return object;
}
