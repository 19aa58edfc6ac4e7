/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of a module that counts no latencies one by one but reads counters: rows in order of
 * time, of columns that are declared once. A value that is not known is absent; it is never 0.
 *
 * A table holds the rows of the interval in flight. The module adds them, the writers put them out,
 * and table__fold() ends the interval: it adds them to the digest of the whole and empties the
 * table, whose room stays, so that a steady state allocates nothing.
 */
#ifndef LATSCOPE_CORE_TABLE_H
#define LATSCOPE_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_COLUMNS 40 /* most columns of a table */
#define TABLE_KEYS 4096 /* most keys of the top-K sketch */
#define TABLE_PRECISION "%.10g" /* of reals in CSV and JSON: more than a counter's accuracy */

enum table_kind { TABLE_INTEGER, TABLE_REAL, TABLE_TEXT, TABLE_KINDS };

struct table_column {
	const char *name; /* "latency_ns": a lower-case letter, then those, digits and '_' */
	const char *unit; /* "ns"; "": it is a name, or has none */
	const char *what; /* for people: "occupancy over inserts, in time" */
	enum table_kind kind;
	bool key; /* the keys of a row say together what it is a sample of: socket, tier */
};

struct table_value {
	bool known; /* false: nothing below holds */
	enum table_kind kind;
	int64_t integer;
	double real;
	const char *text; /* until the table changes */
};

/* One figure of the digest, over the rows in which it is known. */
struct table_aggregate {
	uint64_t rows;
	double sum, low, high, last;
};

struct table;

/* Copies the columns. -EINVAL: a name is none, or there are none or too many; -ENOMEM. */
int table__new(struct table **table, const struct table_column *columns, unsigned int nr);
void table__free(struct table *table);

unsigned int table__columns(const struct table *table);
const struct table_column *table__column(const struct table *table, unsigned int column);

/* Has the column aggregates? Numbers that are no key. */
bool table__is_number(const struct table *table, unsigned int column);

/*
 * A new row, nothing in it known; the setters are for the newest one. Time in ns since the window
 * opened, integers of any unit. -EINVAL: it lies before the last row; -ENOMEM. A real that is not
 * finite stays unknown, as does a text that is NULL.
 */
int table__add_row(struct table *table, uint64_t time_ns);
void table__set_integer(struct table *table, unsigned int column, int64_t value);
void table__set_real(struct table *table, unsigned int column, double value);
int table__set_text(struct table *table, unsigned int column, const char *value);

size_t table__rows(const struct table *table);
uint64_t table__time_ns(const struct table *table, size_t row);
struct table_value table__value(const struct table *table, size_t row, unsigned int column);

/* 0 or -ENOMEM; the rows are gone in either case. */
int table__fold(struct table *table);

/* The rows go without being folded, and the next one may be of any time. */
void table__rewind(struct table *table);

/*
 * The digest: what was folded so far. Keys stand in order of their first row.
 *
 * There is room for TABLE_KEYS. When these are not enough, those with the smallest sums of the
 * first number that is no key go into `others`, and begin again if they come back. What counts for
 * more than 2 / TABLE_KEYS of all is always there; keys and others together are always the whole.
 */
uint64_t table__folded_rows(const struct table *table);
/* How often a key made room for another; 0: all are there. */
uint64_t table__others_keys(const struct table *table);
double table__others_most(const struct table *table); /* of that sum, what a key can lack */
const struct table_aggregate *table__others(const struct table *table, unsigned int column);
size_t table__keys(const struct table *table);
struct table_value table__key(const struct table *table, size_t key, unsigned int column);
size_t table__key_of(const struct table *table, size_t row); /* of a row; SIZE_MAX: none */
const struct table_aggregate *table__aggregate(const struct table *table, size_t key,
					       unsigned int column);

#endif
