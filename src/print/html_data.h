/* SPDX-License-Identifier: BSD-2-Clause */
/* The intervals of a recording as columns of a page. */
#ifndef LATSCOPE_PRINT_HTML_DATA_H
#define LATSCOPE_PRINT_HTML_DATA_H

#include <stdbool.h>

#include <core/run.h>

#include "html_actions.h"
#include "html_page.h"
#include "html_series.h"
#include "html_why.h"

struct json_object;

/* A metric or a key. */
struct html_line {
	size_t index; /* of the key in the run's totals */
	struct sparse sum; /* of the current column */
	struct html_series slots; /* histograms */
	struct html_series sums; /* of a key: the same without slots */
};

struct html_probe {
	struct html_line metrics[RUN_METRICS];
	struct html_line *keys;
	size_t nr_keys;
	size_t left_out[LAT_BY_COUNT]; /* keys of each split */
	struct html_why why;
};

/* Zeroed before html_data__start(). */
struct html_data {
	const struct run *run;
	size_t intervals, per, columns; /* a column is `per` intervals */
	size_t nr, column; /* so far */
	uint64_t first_ns, start_ns, end_ns, last_ns;
	struct {
		struct lat_cell metrics[RUN_METRICS];
	} * cells; /* by probe: of the current column */
	struct html_svg *pictures; /* by probe */
	struct html_actions actions; /* of tierlat */
	struct html_series edges; /* of each column: ns since the end of the last, length in ns */
	struct html_probe probes[RUN_PROBES];
};

/* The functions return 0 or -ENOMEM; the caller must always call html_data__clear(). */
int html_data__start(struct html_data *data, const struct run *run, size_t intervals,
		     unsigned int top);

/* The next interval; also the rows of the tables, as rundb__next() reads them. */
int html_data__add(struct html_data *data, const struct run_interval *interval);

/* Adds "columns", "counts" and "series". */
void html_data__json(struct html_data *data, struct json_object *to);

void html_data__clear(struct html_data *data);

#endif
