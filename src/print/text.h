/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording as text: at most wrap__columns(), no trailing spaces. */
#ifndef LATSCOPE_PRINT_TEXT_H
#define LATSCOPE_PRINT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include <core/run.h>
#include <core/table.h>

#define TEXT_NAME_COLUMNS 21 /* of a key's name in a table of 80 columns */

struct text_style {
	bool color;
	bool all_metrics; /* every metric in full, not only the first; also method and cost */
	unsigned int top; /* lines of a split; 0: all */
	uint32_t by; /* the splits that were asked for: mask of 1 << enum lat_by */
	uint32_t more_by; /* those that only the one probe has: see probe_ops.more_splits */
};

/* Workload, filter, labels; nothing if there are none. */
void text__run(FILE *out, const struct run *run);

/* What an incomplete recording lacks; nothing if it is complete. */
void text__incomplete(FILE *out, const struct run *run);

/* Has its text a warning above the numbers: events are missing, or the kernel's account differs? */
bool text__is_doubtful(const struct run_probe *probe);

/* Everything about one probe. */
void text__probe(FILE *out, const struct run *run, const struct run_probe *probe,
		 const struct text_style *style);

/* ---- names.c ---- */

/* Columns of names in a table: TEXT_NAME_COLUMNS, or more on a wide terminal. */
int text__name_columns(const FILE *out);

/* In so many columns: padded, or with its middle cut out after `head` of them. */
void text__key_name(FILE *out, const char *name);
void text__key_name_cut(FILE *out, const char *name, unsigned int head);

/* The `head` with which the names of these rows stay unique. */
unsigned int text__name_head(const FILE *out, const char *(*name_of)(const void *rows, size_t row),
			     const void *rows, size_t nr);

/* A paragraph for each row of a table; up to `top` keys of its sketch (0: all). */
void table__text_rows(FILE *out, const char *probe, const struct table *table);
void table__text_top_k(FILE *out, const struct table *table, unsigned int top);

/* What a probe changed: a line for each kind of action, and why. */
void actions__text(FILE *out, const struct table *actions);

/* The newest interval's actions, a line each. */
void actions__text_rows(FILE *out, const struct table *actions);

/* ---- coverage.c ---- */

/* A paragraph about the cgroup; nothing if none filters. */
void coverage_text__cgroup(FILE *out, const struct run *run);

/* A paragraph about a probe; nothing if the kernel does not tell. */
void coverage_text__probe(FILE *out, const struct run *run, const struct run_probe *probe);

struct table_value actions__value(const struct table *actions, size_t row, const char *name);

/* Of a key of its top-K sketch: a key column, and the sums of a number. */
struct table_value actions__key(const struct table *actions, size_t key, const char *name);
const struct table_aggregate *actions__aggregate(const struct table *actions, size_t key,
						 const char *name);

#endif
