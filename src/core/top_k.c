// SPDX-License-Identifier: BSD-2-Clause
#include "top_k.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT (TABLE_KEYS / 2) /* keys that stay when others are evicted */

/* The aggregate of no rows. */
static void clear_aggregates(struct table_aggregate *aggregates, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		aggregates[i] = (struct table_aggregate){ .low = DBL_MAX, .high = -DBL_MAX };
}

static unsigned int find_weight(const struct cells *keys)
{
	unsigned int i = 0;

	while (i < keys->nr_columns &&
	       (keys->columns[i].key || keys->columns[i].kind == TABLE_TEXT))
		i++;
	return i;
}

static bool same(const struct table_value *a, const struct table_value *b)
{
	if (a->known != b->known)
		return false;
	if (!a->known)
		return true;
	if (a->kind == TABLE_TEXT)
		return !strcmp(a->text, b->text);
	return a->kind == TABLE_INTEGER ? a->integer == b->integer : a->real == b->real;
}

static bool is_key_of(const struct top_k *top, size_t key, const struct cells *rows, size_t row)
{
	for (unsigned int i = 0; i < top->keys.nr_columns; i++) {
		struct table_value of_key, of_row;

		if (!top->keys.columns[i].key)
			continue;
		of_key = cells__value(&top->keys, key, i);
		of_row = cells__value(rows, row, i);
		if (!same(&of_key, &of_row))
			return false;
	}
	return true;
}

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
	for (const unsigned char *at = bytes; size; at++, size--)
		hash = (hash ^ *at) * 0x100000001b3;
	return hash;
}

/* Hash of the key columns of a row, which selects its chain. */
static size_t hash_of(const struct cells *rows, size_t row)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (unsigned int i = 0; i < rows->nr_columns; i++) {
		struct table_value value;

		if (!rows->columns[i].key)
			continue;
		value = cells__value(rows, row, i);
		if (!value.known)
			hash = mix(hash, "", 1);
		else if (value.kind == TABLE_TEXT)
			hash = mix(hash, value.text, strlen(value.text) + 1);
		else if (value.kind == TABLE_INTEGER)
			hash = mix(hash, &value.integer, sizeof(value.integer));
		else if (value.real != 0) /* 0 and -0 are the same key */
			hash = mix(hash, &value.real, sizeof(value.real));
	}
	return hash % TOP_K_HEADS;
}

size_t top_k__find(const struct top_k *top, const struct cells *rows, size_t row)
{
	size_t head = top->heads[hash_of(rows, row)];

	for (; head; head = top->next[head - 1])
		if (is_key_of(top, head - 1, rows, row))
			return head - 1;
	return TOP_K_NONE;
}

static int copy_key(struct top_k *top, const struct cells *rows, size_t row)
{
	for (unsigned int i = 0; i < top->keys.nr_columns; i++) {
		const struct cell *from = cells__at(rows, row, i);
		struct cell *to = cells__at(&top->keys, top->keys.nr - 1, i);

		if (!top->keys.columns[i].key || !from->known)
			continue;
		if (top->keys.columns[i].kind != TABLE_TEXT)
			*to = *from;
		else if (cells__add_text(&top->keys, to, rows->texts + from->text))
			return -ENOMEM;
	}
	return 0;
}

static void link_key(struct top_k *top, size_t key)
{
	size_t *head = &top->heads[hash_of(&top->keys, key)];

	top->next[key] = *head;
	*head = key + 1;
}

static struct table_aggregate *aggregates_of(const struct top_k *top, size_t key)
{
	return &top->aggregates[key * top->keys.nr_columns];
}

static int add_key(struct top_k *top, const struct cells *rows, size_t row)
{
	int err;

	err = cells__add_row(&top->keys, 0);
	if (!err && top->room < top->keys.room) {
		err = cells__grow(&top->aggregates, top->keys.nr_columns * sizeof(*top->aggregates),
				  top->keys.room);
		if (!err)
			top->room = top->keys.room;
	}
	if (!err)
		err = copy_key(top, rows, row);
	if (err)
		return err;
	clear_aggregates(aggregates_of(top, top->keys.nr - 1), top->keys.nr_columns);
	link_key(top, top->keys.nr - 1);
	top->lacks[top->keys.nr - 1] = top->others_most;
	return 0;
}

static void add_values(struct top_k *top, size_t key, const struct cells *rows, size_t row)
{
	for (unsigned int i = 0; i < top->keys.nr_columns; i++) {
		struct table_aggregate *aggregate = &aggregates_of(top, key)[i];
		struct table_value value = cells__value(rows, row, i);
		double number = value.kind == TABLE_REAL ? value.real : (double)value.integer;

		if (!value.known || value.kind == TABLE_TEXT)
			continue;
		aggregate->rows++;
		aggregate->sum += number;
		aggregate->last = number;
		aggregate->low = fmin(aggregate->low, number);
		aggregate->high = fmax(aggregate->high, number);
	}
}

/* The maximum weight of a key: what was added, plus what it may have had before it was evicted. */
static double weight_of(const struct top_k *top, size_t key)
{
	double sum = top->lacks[key];

	if (top->weight < top->keys.nr_columns)
		sum += aggregates_of(top, key)[top->weight].sum;
	return isnan(sum) ? 0 : sum;
}

/* The rank for evictions. A key with an unknown part is not a single key and stays longest. */
static double rank_of(const struct top_k *top, size_t key)
{
	for (unsigned int i = 0; i < top->keys.nr_columns; i++)
		if (top->keys.columns[i].key && !cells__at(&top->keys, key, i)->known)
			return INFINITY;
	return weight_of(top, key);
}

/* Which keys are evicted: those below the rank, and the oldest of those with exactly that rank. */
struct sieve {
	double rank;
	size_t oldest; /* how many of these are evicted */
};

static int compare_ranks(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int choose_sieve(const struct top_k *top, struct sieve *sieve)
{
	size_t nr = top->keys.nr, below = 0;
	double *ranks = malloc(nr * sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t key = 0; key < nr; key++)
		ranks[key] = rank_of(top, key);
	qsort(ranks, nr, sizeof(*ranks), compare_ranks);
	sieve->rank = ranks[nr - KEPT];
	while (ranks[below] < sieve->rank)
		below++;
	sieve->oldest = nr - KEPT - below;
	free(ranks);
	return 0;
}

static bool stays(struct sieve *sieve, double rank)
{
	if (rank != sieve->rank)
		return rank > sieve->rank;
	if (!sieve->oldest)
		return true;
	sieve->oldest--;
	return false;
}

/* Moves a key to an earlier row. Its texts move too, because they are in the order of the keys. */
static void move_key(struct top_k *top, size_t from, size_t to)
{
	struct cells *keys = &top->keys;
	struct cell *cells = cells__at(keys, to, 0);

	memmove(cells, cells__at(keys, from, 0), top->keys.nr_columns * sizeof(*cells));
	memmove(aggregates_of(top, to), aggregates_of(top, from),
		top->keys.nr_columns * sizeof(*top->aggregates));
	top->lacks[to] = top->lacks[from];
	for (unsigned int i = 0; i < top->keys.nr_columns; i++) {
		const char *text = keys->texts + cells[i].text;
		size_t size;

		if (top->keys.columns[i].kind != TABLE_TEXT || !cells[i].known)
			continue;
		size = strlen(text) + 1;
		memmove(keys->texts + keys->texts_len, text, size);
		cells[i].text = keys->texts_len;
		keys->texts_len += size;
	}
}

static void add_to_others(struct top_k *top, size_t key)
{
	for (unsigned int i = 0; i < top->keys.nr_columns; i++) {
		const struct table_aggregate *aggregate = &aggregates_of(top, key)[i];
		struct table_aggregate *others = &top->others[i];

		others->rows += aggregate->rows;
		others->sum += aggregate->sum;
		others->low = fmin(others->low, aggregate->low);
		others->high = fmax(others->high, aggregate->high);
	}
	top->others_keys++;
}

/*
 * Evicts half of the keys, those of the lowest rank, into `others`.
 *
 * A new key may be an evicted one that returns, so it may lack as much weight as any evicted key
 * could have. It is ranked as if it had had that much: so it cannot be evicted again and again
 * unnoticed.
 *
 * The weights of the remaining keys never add up to more than all folded weight, because a new key
 * gets no more than an evicted one had. None of them is below others_most, so others_most is at
 * most a KEPT-th of the whole.
 */
static int make_room(struct top_k *top)
{
	size_t nr = top->keys.nr, kept = 0;
	struct sieve sieve;
	int err;

	err = choose_sieve(top, &sieve);
	if (err)
		return err;
	top->keys.texts_len = 0;
	for (size_t key = 0; key < nr; key++) {
		if (stays(&sieve, rank_of(top, key))) {
			move_key(top, key, kept++);
			continue;
		}
		top->others_most = fmax(top->others_most, weight_of(top, key));
		add_to_others(top, key);
	}
	top->keys.nr = kept;
	memset(top->heads, 0, sizeof(top->heads));
	for (size_t key = 0; key < kept; key++)
		link_key(top, key);
	return 0;
}

int top_k__add(struct top_k *top, const struct cells *rows, size_t row)
{
	size_t key = top_k__find(top, rows, row);
	int err = 0;

	top->folded++;
	if (key == TOP_K_NONE) {
		if (top->keys.nr == TABLE_KEYS)
			err = make_room(top);
		if (!err)
			err = add_key(top, rows, row);
		if (err)
			return err;
		key = top->keys.nr - 1;
	}
	add_values(top, key, rows, row);
	return 0;
}

void top_k__init(struct top_k *top, const struct table_column *columns, unsigned int nr)
{
	top->keys.columns = columns;
	top->keys.nr_columns = nr;
	top->weight = find_weight(&top->keys);
	clear_aggregates(top->others, TABLE_COLUMNS);
}

void top_k__clear(struct top_k *top)
{
	cells__clear(&top->keys);
	free(top->aggregates);
}
