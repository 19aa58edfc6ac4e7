// SPDX-License-Identifier: BSD-2-Clause
#include "parts.h"

#include <string.h>

/* A key column of this kind, or -1. */
static int key_of(const struct table *table, const char *name, enum table_kind kind)
{
	int found = table__find_column(table, name);
	const struct table_column *column;

	if (found < 0)
		return -1;
	column = table__column(table, (unsigned int)found);
	return column->key && column->kind == kind ? found : -1;
}

/* A time, whose name ends in "_ns". */
static bool is_time(const struct table_column *column)
{
	size_t len = strlen(column->name);

	return len > 3 && !strcmp(column->name + len - 3, "_ns") && column->kind == TABLE_INTEGER &&
	       !column->key;
}

/* The column that the first part is a part of; NULL: there is none. */
static const char *name_of_life(const struct table *table)
{
	for (unsigned int i = 0; table && i < table__columns(table); i++)
		if (table__is_part(table__column(table, i)))
			return table__column(table, i)->mean_per;
	return NULL;
}

/* Is it a part of the life, and a time? */
static bool is_part(const struct table *table, int column, const char *life)
{
	const struct table_column *of = column < (int)table__columns(table)
						? table__column(table, (unsigned int)column)
						: NULL;

	return of && table__is_part(of) && !strcmp(of->mean_per, life) && is_time(of);
}

bool parts__find(const struct table *table, struct parts *parts)
{
	const char *name = name_of_life(table);
	int life = name ? table__find_column(table, name) : -1, last = life;

	if (life < 0 || !is_time(table__column(table, (unsigned int)life)))
		return false;
	while (is_part(table, last + 1, name))
		last++;
	if (last == life)
		return false;
	*parts = (struct parts){
		.pid = key_of(table, "pid", TABLE_INTEGER),
		.tid = key_of(table, "tid", TABLE_INTEGER),
		.comm = key_of(table, "comm", TABLE_TEXT),
		.cgroup = key_of(table, "cgroup", TABLE_TEXT),
		.life = life,
		.nr = (unsigned int)(last - life),
	};
	return true;
}
