// SPDX-License-Identifier: BSD-2-Clause
#include "top_k.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct table {
	struct table_column columns[TABLE_COLUMNS];
	struct cells rows; /* of the current interval */
	struct top_k top_k;
	uint64_t last_ns;
};

static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	return *name && strchr(letters, *name) && !name[strspn(name, others)];
}

static int copy_column(struct table_column *to, const struct table_column *from)
{
	bool is_ratio = from->mean_per && *from->mean_per;

	if (!is_name(from->name) || (unsigned int)from->kind >= TABLE_KINDS)
		return -EINVAL;
	*to = *from;
	to->name = strdup(from->name);
	to->unit = strdup(from->unit);
	to->what = strdup(from->what);
	to->mean_of = is_ratio ? strdup(from->mean_of) : NULL;
	to->mean_per = is_ratio ? strdup(from->mean_per) : NULL;
	if (is_ratio && !(to->mean_of && to->mean_per))
		return -ENOMEM;
	return to->name && to->unit && to->what ? 0 : -ENOMEM;
}

int table__new(struct table **table, const struct table_column *columns, unsigned int nr)
{
	struct table *made;
	int err = 0;

	if (!nr || nr > TABLE_COLUMNS)
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->rows.columns = made->columns;
	while (!err && made->rows.nr_columns < nr) {
		err = copy_column(&made->columns[made->rows.nr_columns],
				  &columns[made->rows.nr_columns]);
		if (err != -EINVAL)
			made->rows.nr_columns++;
	}
	if (err) {
		table__free(made);
		return err;
	}
	top_k__init(&made->top_k, made->columns, nr);
	*table = made;
	return 0;
}

void table__free(struct table *table)
{
	if (!table)
		return;
	for (unsigned int i = 0; i < table->rows.nr_columns; i++) {
		free((char *)table->columns[i].name);
		free((char *)table->columns[i].unit);
		free((char *)table->columns[i].what);
		free((char *)table->columns[i].mean_of);
		free((char *)table->columns[i].mean_per);
	}
	cells__clear(&table->rows);
	top_k__clear(&table->top_k);
	free(table);
}

unsigned int table__columns(const struct table *table)
{
	return table->rows.nr_columns;
}

const struct table_column *table__column(const struct table *table, unsigned int column)
{
	assert(column < table->rows.nr_columns);
	return &table->columns[column];
}

bool table__is_part(const struct table_column *column)
{
	return column->kind == TABLE_INTEGER && column->mean_per && column->mean_of &&
	       !strcmp(column->mean_of, column->name);
}

bool table__has_parts(const struct table *table)
{
	for (unsigned int i = 0; table && i < table__columns(table); i++)
		if (table__is_part(table__column(table, i)))
			return true;
	return false;
}

bool table__is_number(const struct table *table, unsigned int column)
{
	const struct table_column *of = table__column(table, column);

	return !of->key && of->kind != TABLE_TEXT;
}

int table__add_row(struct table *table, uint64_t time_ns)
{
	int err;

	if (time_ns < table->last_ns)
		return -EINVAL;
	err = cells__add_row(&table->rows, time_ns);
	if (!err)
		table->last_ns = time_ns;
	return err;
}

static struct cell *newest(struct table *table, unsigned int column, enum table_kind kind)
{
	struct cell *cell = cells__at(&table->rows, table->rows.nr - 1, column);

	assert(table->columns[column].kind == kind);
	(void)kind;
	return cell;
}

void table__set_integer(struct table *table, unsigned int column, int64_t value)
{
	struct cell *cell = newest(table, column, TABLE_INTEGER);

	cell->integer = value;
	cell->known = true;
}

void table__set_real(struct table *table, unsigned int column, double value)
{
	struct cell *cell = newest(table, column, TABLE_REAL);

	cell->real = value;
	cell->known = isfinite(value);
}

int table__set_text(struct table *table, unsigned int column, const char *value)
{
	struct cell *cell = newest(table, column, TABLE_TEXT);

	if (value)
		return cells__add_text(&table->rows, cell, value);
	cell->known = false;
	return 0;
}

int table__copy_row(struct table *table, const struct table *from, size_t row, uint64_t time_ns)
{
	int err = table__add_row(table, time_ns < table->last_ns ? table->last_ns : time_ns);

	for (unsigned int i = 0; !err && i < table->rows.nr_columns; i++) {
		struct table_value value = table__value(from, row, i);

		if (!value.known)
			continue;
		if (value.kind == TABLE_TEXT)
			err = table__set_text(table, i, value.text);
		else if (value.kind == TABLE_REAL)
			table__set_real(table, i, value.real);
		else
			table__set_integer(table, i, value.integer);
	}
	return err;
}

size_t table__rows(const struct table *table)
{
	return table->rows.nr;
}

uint64_t table__last_ns(const struct table *table)
{
	return table->last_ns;
}

uint64_t table__time_ns(const struct table *table, size_t row)
{
	assert(row < table->rows.nr);
	return table->rows.times[row];
}

struct table_value table__value(const struct table *table, size_t row, unsigned int column)
{
	return cells__value(&table->rows, row, column);
}

static void empty(struct table *table)
{
	table->rows.nr = 0;
	table->rows.texts_len = 0;
}

int table__fold(struct table *table)
{
	int err = 0;

	for (size_t i = 0; !err && i < table->rows.nr; i++)
		err = top_k__add(&table->top_k, &table->rows, i);
	empty(table);
	return err;
}

void table__rewind(struct table *table)
{
	empty(table);
	table->last_ns = 0;
}

uint64_t table__folded_rows(const struct table *table)
{
	return table->top_k.folded;
}

uint64_t table__others_keys(const struct table *table)
{
	return table->top_k.others_keys;
}

double table__others_most(const struct table *table)
{
	return table->top_k.others_most;
}

const struct table_aggregate *table__others(const struct table *table, unsigned int column)
{
	assert(column < table->rows.nr_columns);
	return &table->top_k.others[column];
}

size_t table__keys(const struct table *table)
{
	return table->top_k.keys.nr;
}

struct table_value table__key(const struct table *table, size_t key, unsigned int column)
{
	return cells__value(&table->top_k.keys, key, column);
}

size_t table__key_of(const struct table *table, size_t row)
{
	return top_k__find(&table->top_k, &table->rows, row);
}

const struct table_aggregate *table__aggregate(const struct table *table, size_t key,
					       unsigned int column)
{
	assert(key < table->top_k.keys.nr && column < table->rows.nr_columns);
	return &table->top_k.aggregates[key * table->rows.nr_columns + column];
}

int table__find_column(const struct table *table, const char *name)
{
	for (unsigned int i = 0; i < table->rows.nr_columns; i++)
		if (!strcmp(table->columns[i].name, name))
			return (int)i;
	return -ENOENT;
}

/* By sums of other columns, where all rows have both; else *mean stays. */
static void ratio_of_sums(const struct table *table, size_t key, const struct table_column *column,
			  double *mean)
{
	int of = table__find_column(table, column->mean_of);
	int per = table__find_column(table, column->mean_per);
	const struct table_aggregate *above, *below;

	if (of < 0 || per < 0)
		return;
	above = table__aggregate(table, key, of);
	below = table__aggregate(table, key, per);
	if (above->rows && above->rows == below->rows && below->sum > 0)
		*mean = above->sum / below->sum * (double)column->mean_scale;
}

struct table_value table__mean(const struct table *table, size_t key, unsigned int column)
{
	const struct table_aggregate *aggregate = table__aggregate(table, key, column);
	struct table_value mean = { .known = aggregate->rows, .kind = TABLE_REAL };

	if (!mean.known)
		return mean;
	mean.real = aggregate->sum / (double)aggregate->rows;
	if (table->columns[column].mean_per)
		ratio_of_sums(table, key, &table->columns[column], &mean.real);
	return mean;
}
