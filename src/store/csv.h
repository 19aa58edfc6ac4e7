/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of docs/format.md as CSV. */
#ifndef LATSCOPE_STORE_CSV_H
#define LATSCOPE_STORE_CSV_H

#include <stdio.h>

#include <core/run.h>

/* bucket,lo_us,hi_us,count */
void csv__histogram(FILE *out, const struct lat_hist *hist);

/* time_ns and the columns of a table; an unknown value is an empty field. */
void table__csv_head(FILE *out, const struct table *table);
void table__csv_rows(FILE *out, const struct table *table);

/* key,events,...: one split of one metric. 0 or -ENOMEM. */
int csv__split(FILE *out, const struct run_data *data, enum lat_by by, unsigned int metric);

/*
 * A text field as in RFC 4180: quoted if necessary, quotes doubled. A text that begins with = + -
 * @, a tab or a carriage return gets an apostrophe, so that no spreadsheet takes it for a formula.
 */
void csv__field(FILE *out, const char *text);

/* A comma and a text, or a number of six digits; an unknown number is an empty field. */
void csv__next_field(FILE *out, const char *text);
void csv__next_number(FILE *out, double value);

#endif
