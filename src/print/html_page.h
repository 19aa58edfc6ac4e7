/* SPDX-License-Identifier: BSD-2-Clause */
/* What the pages of html.h are made of. */
#ifndef LATSCOPE_PRINT_HTML_PAGE_H
#define LATSCOPE_PRINT_HTML_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include <core/run.h>
#include <core/sparse.h>

struct json_object;

/* ---- html_page.c: the page around its contents ---- */

/* A text in an element or in an attribute: sanitized and escaped. */
void html_page__text(FILE *out, const char *text);

/* The same as a cell of a table. */
void html_page__cell(FILE *out, const char *text);

/* printf() of such a text. */
void html_page__format(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Everything before the contents for readers without the script; then those; then end_static();
 * then contents for all readers; then end().
 */
void html_page__begin(FILE *out, const char *title);
void html_page__end_static(FILE *out);

/* `data` is freed. `text`: what a terminal shows. 0 or -ENOMEM. */
int html_page__end(FILE *out, struct json_object *data, const char *text);

/* A page that has no script and no data. `text`: what a terminal shows; printed at the end. */
void html_page__begin_plain(FILE *out, const char *title);
void html_page__end_plain(FILE *out, const char *text);

/* ---- html_svg.c: pictures without a script ---- */

#define HTML_SVG_COLUMNS 120

/* Events by time and octave of us. */
struct html_svg {
	uint64_t counts[HTML_SVG_COLUMNS][HIST_LOG2_BUCKETS];
};

/* Column number `column` of `columns`. */
void html_svg__add(struct html_svg *svg, size_t column, size_t columns,
		   const struct lat_hist *hist);
void html_svg__print(FILE *out, const struct html_svg *svg, const char *title, uint64_t start_ns,
		     uint64_t end_ns);

/* ---- html_series.c ---- */

#define HTML_COLUMNS 1000 /* most columns of a page */

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

/* The next column: a number. */
void html_series__value(struct html_series *series, uint64_t value);

/* The text; NULL: no memory. */
struct json_object *html_series__json(struct html_series *series);

#endif
