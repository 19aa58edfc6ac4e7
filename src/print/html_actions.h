/* SPDX-License-Identifier: BSD-2-Clause */
/* What tierlat --act did over time: for a page. */
#ifndef LATSCOPE_PRINT_HTML_ACTIONS_H
#define LATSCOPE_PRINT_HTML_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <core/table.h>

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

#endif
