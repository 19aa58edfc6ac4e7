/* SPDX-License-Identifier: BSD-2-Clause */
/* What a report says beyond its modules: the time line they share. */
#ifndef LATSCOPE_PRINT_REPORT_H
#define LATSCOPE_PRINT_REPORT_H

#include <stdio.h>

#include <stats/correlation.h>

struct json_object;

/* Most lines that the time line has if not all are asked for: what a terminal shows at once. */
#define REPORT_LINES 24

/* At most 80 columns, as long as there are three modules. `top`: lines of a split; 0: all. */
void report__print_timeline(FILE *out, const struct timeline *timeline, unsigned int top);

/* Adds "timeline", "correlation" and "contributors" to the object of the recording. */
void report__add_timeline(struct json_object *to, const struct timeline *timeline);

/* What the tables have beside the slow events; nothing without tables. */
void report__print_correlation(FILE *out, const struct correlation *correlation);
void report__add_correlation(struct json_object *to,
			     const struct correlation *correlation); /* "covariates" */

#endif
