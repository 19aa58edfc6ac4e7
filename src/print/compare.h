/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as text, JSON and CSV. */
#ifndef LATSCOPE_PRINT_COMPARE_H
#define LATSCOPE_PRINT_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include <stats/comparison.h>

struct json_object;

/* At most 80 columns. */
void compare__print_text(FILE *out, const struct comparison *comparison, bool color);

/*
 * Which parts of the slow time changed, of the probes that both groups explain (record --why).
 * 0 or -ENOMEM.
 */
int compare__print_why(FILE *out, const struct comparison *comparison);
int compare__add_why(struct json_object *object, const struct comparison *comparison);

/* A line per statistic. */
void compare__print_csv(FILE *out, const struct comparison *comparison);

/*
 * The fields of one statistic for other tables than those of a comparison: name and value of ON,
 * then its ratio alone, or that with interval, verdict and the line's end; 59 columns in all.
 */
void compare__print_value(FILE *out, const struct judged *judged, unsigned int statistic);
void compare__print_ratio(FILE *out, const struct judged *judged);
void compare__print_judged(FILE *out, const struct judged *judged, bool color);

/* The same as the last ten fields of a line of CSV, and as JSON. */
void compare__csv_statistic(FILE *out, const struct judge_rules *rules, const struct judged *judged,
			    unsigned int statistic);
struct json_object *compare__json_statistic(const struct judge_rules *rules,
					    const struct judged *judged, unsigned int statistic);

/* The factor of a statistic in CSV and JSON, where latencies are in us. */
double compare__scale(unsigned int statistic);

/* The caller frees it; docs/format.md lists the fields. */
struct json_object *compare__json(const struct comparison *comparison);

#endif
