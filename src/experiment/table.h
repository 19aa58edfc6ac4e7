/* SPDX-License-Identifier: BSD-2-Clause */
/* The cells of a matrix, each compared with the reference; one family of tests. */
#ifndef LATSCOPE_EXPERIMENT_TABLE_H
#define LATSCOPE_EXPERIMENT_TABLE_H

#include <stdio.h>

#include <core/hist.h>
#include <stats/notes.h>

#include "experiment.h"

/* One latency of one cell. */
struct table_row {
	size_t side;
	char probe[RUN_NAME], metric[RUN_NAME];
	uint64_t tail_ns; /* 0: there is no common threshold */
	uint64_t events;
	uint64_t buckets[HIST_LOG2_BUCKETS];
	struct judged statistics[JUDGE_STATISTICS]; /* of the reference, only the values */
	bool unjudged; /* it has values of another program */
};

struct cell_table {
	const struct experiment *experiment;
	struct table_row *rows; /* by probe, metric, cell */
	size_t nr;
	struct notes warnings; /* of the comparisons */
	size_t tested;
	size_t untested;
	size_t verdicts[JUDGE_VERDICTS];
};

/* A new row, all zero; NULL: out of memory. It stays until the next one is added. */
struct table_row *cell_table__add_row(struct cell_table *table, size_t side);

/* Reads all recordings. The errors of experiment__go(). Must be followed by cell_table__clear(). */
int cell_table__read(struct cell_table *table, struct experiment *experiment);
void cell_table__clear(struct cell_table *table);

/* ---- table_print.c; at most 80 columns ---- */

void cell_table__print_text(FILE *out, const struct cell_table *table, bool color);
void cell_table__print_csv(FILE *out, const struct cell_table *table);

/* 0 or -ENOMEM. */
int cell_table__print_json(FILE *out, const struct cell_table *table);

/* ---- table_html.c ---- */

/* A page with a histogram for each cell; `of` is the table. 0 or -ENOMEM. */
int cell_table__print_html(FILE *out, void *of);

#endif
