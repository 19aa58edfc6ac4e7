/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as text, JSON and CSV. */
#ifndef LATSCOPE_PRINT_COMPARE_H
#define LATSCOPE_PRINT_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include <core/units.h>
#include <stats/comparison.h>

struct json_object;

/* The verdicts, then what they are drawn from. `verbose`: also the method. */
void compare__print_text(FILE *out, const struct comparison *comparison, bool color, bool verbose);

/* Only the lines of the verdicts: the first one is the answer. */
void compare__print_verdict(FILE *out, const struct comparison *comparison, bool color);

/* "2.1 ms", "12 %", "1,200/s". Returns buf. */
const char *compare__value(char buf[UNITS_TEXT], double value, unsigned int statistic);

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

/*
 * The numbers of a statistic, which CSV and JSON have in this order: JSON all, the odds ratio only
 * of the tail. Latencies are in us.
 */
#define COMPARE_NUMBERS 10
#define COMPARE_ODDS_RATIO 7
extern const struct compare_number {
	const char *name;
	bool in_csv;
} compare__numbers[COMPARE_NUMBERS];
void compare__values(const struct judged *judged, unsigned int statistic,
		     double values[COMPARE_NUMBERS]);

/* The first line of CSV; `before`: the fields before a statistic; `off`, `on`: its values. */
void compare__csv_head(FILE *out, const char *before, const char *off, const char *on);

/* The last ten fields of a line of CSV, and the same as JSON. */
void compare__csv_statistic(FILE *out, const struct judge_rules *rules, const struct judged *judged,
			    unsigned int statistic);
struct json_object *compare__json_statistic(const struct judge_rules *rules,
					    const struct judged *judged, unsigned int statistic);

/* The caller frees it; docs/format.md lists the fields. */
struct json_object *compare__json(const struct comparison *comparison);

#endif
