/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of a probe that reads counters instead of timing events: rows in order of time, with
 * columns that are declared once. An unknown value is absent, never 0.
 *
 * A table holds the rows of the current interval. The probe adds rows, the writers write them, and
 * table__fold() ends the interval: it adds the rows to the top-K sketch of the whole window and
 * empties the table. Memory is kept and reused.
 */
#ifndef LATSCOPE_CORE_TABLE_H
#define LATSCOPE_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_COLUMNS 48 /* most columns of a table */
#define TABLE_KEYS 4096 /* most keys of the top-K sketch */
#define TABLE_PRECISION "%.10g" /* of reals in CSV and JSON: more than the accuracy of a counter */

enum table_kind { TABLE_INTEGER, TABLE_REAL, TABLE_TEXT, TABLE_KINDS };

struct table_column {
	/* "latency_ns": a lower-case letter, then lower-case letters, digits and '_' */
	const char *name;
	const char *unit; /* "ns"; "": it is a name, or has none */
	const char *what; /* description: "occupancy over inserts, in time" */
	enum table_kind kind;
	bool key; /* the key columns identify what a row is a sample of: socket, tier */
	/*
	 * Names of two columns. The mean of this column over several rows is the sum of the first
	 * one over that of the second one, times `mean_scale`; NULL or empty: it is the mean of the
	 * rows.
	 */
	const char *mean_of, *mean_per;
	uint64_t mean_scale;
};

struct table_value {
	bool known; /* false: unknown; the rest is unset */
	enum table_kind kind;
	int64_t integer;
	double real;
	const char *text; /* valid until the table changes */
};

/* A number of the sketch, over the rows in which it is known. */
struct table_aggregate {
	uint64_t rows;
	double sum, low, high, last;
};

struct table;

/* Copies the columns. -EINVAL: an invalid name, no columns or too many; -ENOMEM. */
int table__new(struct table **table, const struct table_column *columns, unsigned int nr);
void table__free(struct table *table);

unsigned int table__columns(const struct table *table);
const struct table_column *table__column(const struct table *table, unsigned int column);

/*
 * Is the column a part of another one, its mean_per? Its mean is its share of that. And has the
 * table such columns? NULL: it has none.
 */
bool table__is_part(const struct table_column *column);
bool table__has_parts(const struct table *table);

/* Does the column have aggregates? True for numbers that are not keys. */
bool table__is_number(const struct table *table, unsigned int column);

/*
 * Adds a row without values; the setters set values of the newest row. Time in ns since the window
 * opened. -EINVAL: the time is before the last row's; -ENOMEM. A real that is not finite, or a text
 * that is NULL, stays unknown.
 */
int table__add_row(struct table *table, uint64_t time_ns);
void table__set_integer(struct table *table, unsigned int column, int64_t value);
void table__set_real(struct table *table, unsigned int column, double value);
int table__set_text(struct table *table, unsigned int column, const char *value);

/*
 * Adds a copy of a row of another table, which has the same columns, with this time, or that of the
 * last row if that is later. 0 or -ENOMEM.
 */
int table__copy_row(struct table *table, const struct table *from, size_t row, uint64_t time_ns);

size_t table__rows(const struct table *table);
uint64_t table__last_ns(const struct table *table); /* of the last row, also a folded one */
uint64_t table__time_ns(const struct table *table, size_t row);
struct table_value table__value(const struct table *table, size_t row, unsigned int column);

/* 0 or -ENOMEM; the rows are gone in either case. */
int table__fold(struct table *table);

/* Removes the rows without folding them; the next row may have any time. */
void table__rewind(struct table *table);

/*
 * The top-K sketch of all folded rows: see top_k.h for its error bound. Keys are in order of their
 * first row. others: the evicted keys.
 */
uint64_t table__folded_rows(const struct table *table);
uint64_t table__others_keys(const struct table *table); /* evictions; 0: all keys are there */
double table__others_most(const struct table *table); /* maximum weight that a key can lack */
const struct table_aggregate *table__others(const struct table *table, unsigned int column);
size_t table__keys(const struct table *table);
struct table_value table__key(const struct table *table, size_t key, unsigned int column);
size_t table__key_of(const struct table *table, size_t row); /* of a row; SIZE_MAX: none */
const struct table_aggregate *table__aggregate(const struct table *table, size_t key,
					       unsigned int column);

/* The mean of a key's rows, as the column defines it; not known if no row has it. */
struct table_value table__mean(const struct table *table, size_t key, unsigned int column);

/* The column of that name, or -ENOENT. */
int table__find_column(const struct table *table, const char *name);

#endif
