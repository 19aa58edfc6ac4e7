/* SPDX-License-Identifier: BSD-2-Clause */
/* The intervals of a recording as columns of a page. */
#ifndef LATSCOPE_PRINT_HTML_DATA_H
#define LATSCOPE_PRINT_HTML_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <core/run.h>
#include <core/table.h>
#include <stats/correlation.h>
#include <stats/why.h>

#include "bars.h"
#include "html_page.h"

struct json_object;

/* ---- html_actions.c ---- */

#define HTML_ACTION_COLUMNS 200
#define HTML_ACTION_LANES 8 /* kinds of action that are drawn */
#define HTML_ACTION_KEYS 40 /* lines of the table */
#define HTML_ACTION_LABEL 64

enum html_action_line {
	HTML_ACTION_DEFAULT, /* latency of that tier */
	HTML_ACTION_ALTERNATE,
	HTML_ACTION_SHARE, /* of the bytes on the default tier */
	HTML_ACTION_LINES,
};

/* Zeroed before the first html_actions__add(). */
struct html_actions {
	const struct table *table; /* NULL: there is none */
	size_t columns;
	struct {
		double sums[HTML_ACTION_COLUMNS];
		uint32_t rows[HTML_ACTION_COLUMNS];
		double low, high; /* of all rows */
		bool known;
	} lines[HTML_ACTION_LINES];
	struct {
		char label[HTML_ACTION_LABEL];
		bool at[HTML_ACTION_COLUMNS];
		uint64_t count;
	} lanes[HTML_ACTION_LANES];
	unsigned int nr_lanes;
	bool more; /* kinds without a lane */
	uint64_t times[HTML_ACTION_KEYS]; /* rows of each key */
};

/* The rows of the interval; `column` of `columns` is where they belong. */
void html_actions__add(struct html_actions *actions, const struct table *table, size_t column,
		       size_t columns);

/* A picture and a table; nothing if there is no table. */
void html_actions__print(FILE *out, const struct html_actions *actions, uint64_t start_ns,
			 uint64_t end_ns);

/* ---- html_why.c ---- */

#define HTML_PAIRS 40 /* of victim and culprit, the largest; the others share one */
#define HTML_SLOW_SPANS 40 /* the recording is divided into so many spans, and of each */
#define HTML_SLOW_EACH 4 /* the slowest events are kept */

struct html_sums {
	uint64_t ns, events; /* of the current column */
	struct html_series series;
};

/* Tasks of one name are one victim, and one culprit. */
struct html_pair {
	const char *victim, *part, *culprit; /* of the first of them; culprit "": none */
	bool victims, culprits; /* there are several */
	uint64_t ns;
	struct html_sums sums;
};

/* Zeroed before html_why__start(). */
struct html_why {
	bool used;
	size_t nr_pairs, nr_shown; /* HTML_PAIRS of them at most */
	struct why_summary summary;
	struct html_sums parts[WHY_PARTS];
	struct html_pair *pairs; /* the largest first */
	struct html_sums others; /* of pairs that are not shown */
	struct why_slow *slow; /* HTML_SLOW_SPANS * HTML_SLOW_EACH; ns == 0: none */
};

int html_why__start(struct html_why *why, const struct run *run, const struct run_probe *probe);

/* The rows of the interval; `column` of `columns` is where they belong. 0 or -ENOMEM. */
int html_why__add(struct html_why *why, const struct run_probe *probe, size_t column,
		  size_t columns);
void html_why__end_column(struct html_why *why);

struct json_object *html_why__json(struct html_why *why, const struct run *run,
				   const struct run_probe *probe);
void html_why__clear(struct html_why *why);

/* ---- html_bars.c ---- */

#define HTML_BARS 8 /* of each split; the others share one */
#define HTML_BAR_SPLITS 3 /* process, thread, cgroup */
#define HTML_BAR_UNIT_NS 1000 /* of their series */

/* A bar over time. */
struct html_bar {
	struct bar whole; /* of the recording */
	struct html_series parts[BAR_PARTS]; /* of each column, in us */
};

struct html_bar_split {
	unsigned int by; /* enum lat_by */
	struct html_bar bars[HTML_BARS + 1]; /* the last one: all others */
	size_t nr, nr_others; /* without that one */
	struct bars all; /* of the whole recording, by name */
};

/* One of the longest waits; its texts are owned. */
struct html_wait {
	struct bar_wait wait; /* ns 0: none */
	char *comm, *call, *chain;
};

/* Zeroed before html_bars__start(). */
struct html_bars {
	const struct run_probe *probe; /* that divides the time of threads; NULL: none */
	struct run_probe *rows; /* its rows of the current column, see bars.h */
	struct html_bar_split splits[HTML_BAR_SPLITS];
	size_t nr_splits;
	struct html_wait *waits; /* HTML_SLOW_SPANS * HTML_SLOW_EACH */
};

int html_bars__start(struct html_bars *bars, const struct run *run);

/* The rows of the interval; `column` of `columns` is where they belong. 0 or -ENOMEM. */
int html_bars__add(struct html_bars *bars, size_t column, size_t columns);
/* Adds to `machine` what all threads did: what is neither CPU nor a wait is idle. */
int html_bars__end_column(struct html_bars *bars, uint64_t length_ns, uint64_t machine[BAR_PARTS]);

/* NULL: there are none. */
struct json_object *html_bars__json(struct html_bars *bars);

/* A table, for readers without the script. */
void html_bars__print(FILE *out, const struct html_bars *bars);
void html_bars__clear(struct html_bars *bars);

/* ---- html_data.c ---- */

/* A metric or a key. */
struct html_track {
	size_t index; /* of the key in the run's totals */
	struct sparse sum; /* of the current column */
	struct html_series slots; /* histograms: of a metric by column, of a key by group */
	struct html_series sums; /* of a key, by column: the same without slots */
	struct sparse *groups; /* of a key: html_data.group columns each */
};

struct html_probe {
	struct html_track metrics[RUN_METRICS];
	struct html_track *keys;
	size_t nr_keys;
	size_t left_out[LAT_BY_COUNT]; /* keys of each split */
	struct html_why why;
};

#define HTML_PRESSURES 3 /* CPU, memory, I/O */

struct html_column {
	uint64_t start_ns, end_ns;
	uint64_t machine[BAR_PARTS]; /* of all threads */
	double pressure[HTML_PRESSURES]; /* share of the time; NAN: unknown */
};

/* Zeroed before html_data__start(). */
struct html_data {
	const struct run *run;
	size_t intervals, per, columns; /* a column is `per` intervals */
	size_t nr, column; /* so far */
	uint64_t first_ns, start_ns, end_ns, last_ns;
	struct html_column *over_time; /* by column */
	size_t group, key_slots; /* columns of a group of keys; slots of all groups */
	struct {
		struct lat_cell metrics[RUN_METRICS];
	} * cells; /* by probe: of the current column */
	struct html_svg *pictures; /* by probe */
	struct html_actions actions; /* of tierlat */
	struct html_series edges; /* of each column: ns since the end of the last, length in ns */
	struct html_probe probes[RUN_PROBES];
	struct html_bars bars;
	char *sentences; /* of the first answer, a line each; NULL: there is none */
};

/* The functions return 0 or -ENOMEM; the caller must always call html_data__clear(). */
int html_data__start(struct html_data *data, const struct run *run, size_t intervals,
		     unsigned int top);

/* The next interval; also the rows of the tables, as rundb__next() reads them. */
int html_data__add(struct html_data *data, const struct run_interval *interval);

/* Once all intervals are added. */
void html_data__add_pressure(struct html_data *data, const struct correlation *correlation);

/* Adds "columns", "counts", "series", "group", "bars", "sentences" and "pressure". */
void html_data__json(struct html_data *data, struct json_object *to);

void html_data__clear(struct html_data *data);

#endif
