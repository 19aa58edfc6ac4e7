/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The top-K sketch of a table: aggregates of the keys with the largest sums of one column, the
 * weight (the first number that is no key), in bounded memory.
 *
 * It is Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi, ICDT 2005) with evictions in batches:
 * when all K = TABLE_KEYS rows are in use, the K/2 keys with the least weight are evicted into
 * `others`. As in Space-Saving, a new key counts as if it had had the largest weight evicted so
 * far, so it cannot be evicted again and again unnoticed; but its aggregates hold only added rows.
 *
 * Error bound, with W the sum of all weights: the weight of a key lacks at most others_most, which
 * is at most 2 W / K. A key with more than 2 W / K is therefore always in the sketch. The keys and
 * `others` always add up to the whole. Weights must not be negative.
 */
#ifndef LATSCOPE_CORE_TOP_K_H
#define LATSCOPE_CORE_TOP_K_H

#include "cells.h"

#define TOP_K_HEADS 1024 /* hash chains: with TABLE_KEYS, four keys in each */
#define TOP_K_NONE SIZE_MAX

struct top_k {
	unsigned int weight; /* its column; nr_columns: none */
	struct cells keys; /* a row for each key, with the key columns only */
	struct table_aggregate *aggregates; /* nr_columns for each key */
	size_t room; /* of aggregates, in keys */
	size_t heads[TOP_K_HEADS]; /* the first key of a hash, plus 1 */
	size_t next[TABLE_KEYS]; /* of the same hash, plus 1 */
	struct table_aggregate others[TABLE_COLUMNS]; /* of the evicted keys */
	uint64_t others_keys;
	double others_most;
	double lacks[TABLE_KEYS]; /* others_most when the key was added */
	uint64_t folded;
};

/* `top` is zeroed; it keeps the pointer to the columns. */
void top_k__init(struct top_k *top, const struct table_column *columns, unsigned int nr);
void top_k__clear(struct top_k *top);

/* 0 or -ENOMEM. */
int top_k__add(struct top_k *top, const struct cells *rows, size_t row);

/* The key of a row, or TOP_K_NONE. */
size_t top_k__find(const struct top_k *top, const struct cells *rows, size_t row);

#endif
