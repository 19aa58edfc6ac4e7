/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A number or a histogram over time as a short text, which web/data.js reads: numbers to the base
 * of 32, least digit first. A digit is one of "A..Za..z0..9-_"; from the 33rd on, another digit
 * follows. A 0 in place of a column and a number N are N empty columns.
 */
#ifndef LATSCOPE_PRINT_HTML_SERIES_H
#define LATSCOPE_PRINT_HTML_SERIES_H

#include <stdint.h>
#include <stdio.h>

#include <core/sparse.h>

#define HTML_COLUMNS 1000 /* most columns of a page */

struct json_object;

struct html_series {
	FILE *stream;
	char *text;
	size_t size;
	uint64_t empty; /* columns */
};

/* 0 or -ENOMEM. The caller must always call html_series__clear(). */
int html_series__open(struct html_series *series);
void html_series__clear(struct html_series *series);

void html_series__number(struct html_series *series, uint64_t value);

/*
 * The next column. Number of slots + 1, then for each the distance to the one before and its count;
 * sum, maximum, tail. With `counts` (of enum lat_count), their number, and for each the number of
 * the count and its value.
 */
void html_series__hist(struct html_series *series, const struct sparse *hist,
		       const uint64_t *counts);

/* The next column: events + 1, sum, maximum. */
void html_series__sums(struct html_series *series, uint64_t events, uint64_t sum, uint64_t max);

/* A column without anything. */
void html_series__empty(struct html_series *series);

/* Length so far. */
size_t html_series__length(struct html_series *series);

/* The text; NULL: no memory. */
struct json_object *html_series__json(struct html_series *series);

#endif
