// SPDX-License-Identifier: BSD-2-Clause
#include "times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>
#include <host/names.h>

#include "series.h"

bool times__state(const struct table *table, unsigned int column, char state[RUN_NAME])
{
	const struct table_column *of = table__column(table, column);
	size_t len = strlen(of->name), unit = strlen("_ns");

	if (!table__is_part(of))
		return false;
	if (len > unit && !strcmp(of->name + len - unit, "_ns"))
		len -= unit;
	snprintf(state, RUN_NAME, "%.*s", (int)len, of->name);
	return true;
}

/* The index of a name, -1: none. *idle is the one that has had no thread for longest. */
static ssize_t find(struct times *times, unsigned int probe, const char *name, size_t *count,
		    size_t *idle)
{
	*count = 0;
	*idle = SIZE_MAX;
	for (size_t i = 0; i < times->nr; i++) {
		size_t at = (times->next + i) % times->nr;
		const struct spent *one = &times->all[at];

		if (one->probe != probe)
			continue;
		if (!strcmp(one->name, name)) {
			times->next = at + 1;
			return (ssize_t)at;
		}
		if (one->name[0] == '(')
			continue;
		++*count;
		if (*idle == SIZE_MAX || one->last_ns < times->all[*idle].last_ns)
			*idle = at;
	}
	return -1;
}

/* NULL: no memory. */
static struct spent *place_of(struct times *times, unsigned int probe, const char *name,
			      uint64_t now_ns)
{
	struct spent fresh = { .probe = probe };
	size_t count, idle;
	ssize_t at = find(times, probe, name, &count, &idle);

	if (at >= 0)
		return &times->all[at];
	snprintf(fresh.name, sizeof(fresh.name), "%s", name);
	if (name[0] == '(' || count < times->most)
		return vec__append(&times->all, &times->nr, &fresh, sizeof(fresh))
			       ? NULL
			       : &times->all[times->nr - 1];
	if (idle == SIZE_MAX || now_ns - times->all[idle].last_ns < SERIES_IDLE_NS)
		return place_of(times, probe, SERIES_OTHER, now_ns);
	times->all[idle] = fresh;
	return &times->all[idle];
}

static int add_row(struct times *times, unsigned int probe, const struct table *table, size_t row,
		   uint64_t now_ns)
{
	int cgroup = table__find_column(table, "cgroup");
	struct table_value value = { 0 };
	char name[RUN_NAME] = SERIES_UNKNOWN;
	struct spent *one;

	if (cgroup >= 0)
		value = table__value(table, row, (unsigned int)cgroup);
	if (value.known && (value.text[0] == '/' || !strncmp(value.text, "...", 3)))
		names__shorten(value.text, name, sizeof(name));
	one = place_of(times, probe, name, now_ns);
	if (!one)
		return -ENOMEM;
	one->last_ns = now_ns;
	if (one->name[0] != '(' && value.text[0] == '/')
		snprintf(one->path, sizeof(one->path), "%s", value.text);
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (table__is_part(table__column(table, i)))
			one->ns[i] += (uint64_t)table__value(table, row, i).integer;
	return 0;
}

int times__add(struct times *times, const struct run *run, uint64_t now_ns)
{
	int err = 0;

	for (unsigned int probe = 0; probe < run->nr_probes; probe++) {
		const struct table *table = run->probes[probe].table;

		for (size_t row = 0; !err && table__has_parts(table) && row < table__rows(table);
		     row++)
			err = add_row(times, probe, table, row, now_ns);
	}
	return err;
}

void times__free(struct times *times)
{
	free(times->all);
	memset(times, 0, sizeof(*times));
}
