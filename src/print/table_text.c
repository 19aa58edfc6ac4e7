// SPDX-License-Identifier: BSD-2-Clause
#include "text.h"
#include "wrap.h"

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

static void text_aggregate(FILE *out, const struct table_column *column,
			   const struct table_aggregate *aggregate)
{
	double mean = aggregate->rows ? aggregate->sum / (double)aggregate->rows : 0;

	fprintf(out, "  %-28.28s", column->name);
	if (aggregate->rows)
		fprintf(out, " %11.5g %11.5g %11.5g %8llu\n", mean, aggregate->low, aggregate->high,
			(unsigned long long)aggregate->rows);
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
		if (table__is_number(table, i))
			text_aggregate(out, table__column(table, i),
				       table__aggregate(table, key, i));
}

static void text_others(FILE *out, const struct table *table)
{
	fprintf(out, "\n%llu of the smallest, in total\n",
		(unsigned long long)table__others_keys(table));
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (table__is_number(table, i))
			text_aggregate(out, table__column(table, i), table__others(table, i));
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
