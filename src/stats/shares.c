// SPDX-License-Identifier: BSD-2-Clause
#include "shares.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

/* The columns that name a key. */
static const struct {
	int by;
	const char *column;
} splits[] = {
	{ GROUP_WHOLE, NULL },
	{ LAT_BY_PROCESS, "comm" },
	{ LAT_BY_CGROUP, "cgroup" },
};

#define SPLITS (sizeof(splits) / sizeof(splits[0]))

/* Where a table has what; -1: nowhere. */
struct places {
	int whole, names[SPLITS];
	int parts[SHARES_PARTS]; /* columns, by index of the part */
};

int shares__part(const struct shares *shares, const char *name)
{
	for (unsigned int i = 0; i < shares->nr_parts; i++)
		if (!strcmp(shares->parts[i], name))
			return (int)i;
	return -1;
}

static int place_part(struct shares *shares, const char *name)
{
	int found = shares__part(shares, name);

	if (found >= 0 || shares->nr_parts == SHARES_PARTS)
		return found;
	snprintf(shares->parts[shares->nr_parts], RUN_NAME, "%s", name);
	return (int)shares->nr_parts++;
}

/* All parts are of one whole: that of the first one. */
static struct places find_places(struct shares *shares, const struct table *table)
{
	struct places places = { .whole = -1 };

	for (unsigned int i = 0; i < SHARES_PARTS; i++)
		places.parts[i] = -1;
	for (unsigned int i = 0; i < SPLITS; i++)
		places.names[i] =
			splits[i].column ? table__find_column(table, splits[i].column) : -1;
	for (unsigned int i = 0; i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);
		int whole =
			table__is_part(column) ? table__find_column(table, column->mean_per) : -1;
		int part;

		if (whole < 0 || (places.whole >= 0 && whole != places.whole))
			continue;
		places.whole = whole;
		part = place_part(shares, column->name);
		if (part >= 0)
			places.parts[part] = (int)i;
	}
	return places;
}

static int by_name(const void *left, const void *right)
{
	const struct shares_key *a = left, *b = right;
	int order = a->by - b->by;

	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->probe, b->probe);
}

const struct shares_key *shares__find(const struct shares *shares, const struct shares_key *like)
{
	const struct shares_key *const *found = tfind(like, &shares->index, by_name);

	return found ? *found : NULL;
}

/* Finds a key, or adds it. NULL: no memory. */
static struct shares_key *key_of(struct shares *shares, const struct shares_key *like)
{
	struct shares_key *made, **found = tfind(like, &shares->index, by_name);

	if (found)
		return *found;
	made = malloc(sizeof(*made));
	if (!made)
		return NULL;
	*made = *like;
	if (vec__append(&shares->keys, &shares->nr_keys, &made, sizeof(made))) {
		free(made);
		return NULL;
	}
	return tsearch(made, &shares->index, by_name) ? made : NULL;
}

static struct shares_window *window_of(struct shares_key *key, size_t window)
{
	const struct shares_window made = { .window = window };

	if (key->nr && key->windows[key->nr - 1].window == window)
		return &key->windows[key->nr - 1];
	return vec__append(&key->windows, &key->nr, &made, sizeof(made))
		       ? NULL
		       : &key->windows[key->nr - 1];
}

/* A row, or a key of the sketch with the sums of its rows. */
struct source {
	const struct table *table;
	size_t at;
	bool is_key;
};

static struct table_value text_of(const struct source *source, int column)
{
	return source->is_key ? table__key(source->table, source->at, (unsigned int)column)
			      : table__value(source->table, source->at, (unsigned int)column);
}

static double number_of(const struct source *source, int column)
{
	struct table_value value;

	if (column < 0)
		return 0;
	if (source->is_key)
		return table__aggregate(source->table, source->at, (unsigned int)column)->sum;
	value = table__value(source->table, source->at, (unsigned int)column);
	return value.known ? (double)value.integer : 0;
}

/* The end of a name that is too long: the path of a cgroup differs there. */
static void set_name(struct shares_key *key, const char *text)
{
	size_t len = strlen(text), most = sizeof(key->name) - 1;

	snprintf(key->name, sizeof(key->name), "%s", text + (len > most ? len - most : 0));
}

static int add(struct shares *shares, const struct run_probe *probe, const struct source *source,
	       const struct places *places, size_t window)
{
	for (unsigned int i = 0; i < SPLITS; i++) {
		struct shares_key like = { .by = splits[i].by }, *key;
		struct shares_window *to;

		if (places->names[i] >= 0) {
			struct table_value name = text_of(source, places->names[i]);

			if (!name.known)
				continue;
			set_name(&like, name.text);
		} else if (splits[i].column) {
			continue;
		}
		snprintf(like.probe, RUN_NAME, "%s", probe->name);
		key = key_of(shares, &like);
		to = key ? window_of(key, window) : NULL;
		if (!to)
			return -ENOMEM;
		to->whole += number_of(source, places->whole);
		for (unsigned int part = 0; part < shares->nr_parts; part++)
			to->parts[part] += number_of(source, places->parts[part]);
	}
	return 0;
}

static int add_all(struct shares *shares, const struct run_probe *probe, bool sums, size_t window)
{
	const struct table *table = probe->table;
	size_t nr = !table ? 0 : sums ? table__keys(table) : table__rows(table);
	struct places places;
	int err = 0;

	if (!nr || !table__has_parts(table))
		return 0;
	places = find_places(shares, table);
	for (size_t i = 0; !err && i < nr; i++)
		err = add(shares, probe, &(struct source){ table, i, sums }, &places, window);
	return err;
}

int shares__add_rows(struct shares *shares, const struct run_probe *probe, size_t window)
{
	return add_all(shares, probe, false, window);
}

int shares__add_sums(struct shares *shares, const struct run_probe *probe, size_t window)
{
	return add_all(shares, probe, true, window);
}

static void keep_node(void *node)
{
	(void)node;
}

void shares__clear(struct shares *shares)
{
	tdestroy(shares->index, keep_node);
	for (size_t i = 0; i < shares->nr_keys; i++) {
		free(shares->keys[i]->windows);
		free(shares->keys[i]);
	}
	free(shares->keys);
	*shares = (struct shares){ 0 };
}
