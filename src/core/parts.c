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

static bool is_part(const struct table_column *column)
{
	size_t len = strlen(column->name);

	return len > 3 && !strcmp(column->name + len - 3, "_ns") && column->kind == TABLE_INTEGER &&
	       !column->key;
}

bool parts__find(const struct table *table, struct parts *parts)
{
	int life = table ? table__find_column(table, "life_ns") : -1;
	int last = table ? table__find_column(table, "unknown_ns") : -1;

	if (life < 0 || last <= life)
		return false;
	for (int i = life; i <= last; i++)
		if (!is_part(table__column(table, (unsigned int)i)))
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
