/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison for people, as JSON and as CSV. */
#ifndef LATSCOPE_PRINT_COMPARE_H
#define LATSCOPE_PRINT_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include <stats/comparison.h>

struct json_object;

/* At most 80 columns. */
void compare__print_text(FILE *out, const struct comparison *comparison, bool color);

/* A line a figure. */
void compare__print_csv(FILE *out, const struct comparison *comparison);

/* What a figure is multiplied by in CSV and JSON: latencies are in us there, as in all others. */
double compare__scale(unsigned int statistic);

/* To be put; docs/format.md lists the fields. */
struct json_object *compare__json(const struct comparison *comparison);

#endif
