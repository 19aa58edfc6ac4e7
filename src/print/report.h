/* SPDX-License-Identifier: BSD-2-Clause */
/* The statistics of a report over all probes: time line, correlation, contributors. */
#ifndef LATSCOPE_PRINT_REPORT_H
#define LATSCOPE_PRINT_REPORT_H

#include <stdio.h>

#include <core/units.h>
#include <stats/correlation.h>

#include "wrap.h"

struct json_object;

/* Maximum lines of the time line without --all-intervals: what a terminal shows at once. */
#define REPORT_LINES 24

/* At most 80 columns with up to three probes. `top`: lines of a split; 0: all. */
void report__print_timeline(FILE *out, const struct timeline *timeline, unsigned int top);

/* Adds "timeline", "correlation" and "contributors" to the object; refers to the timeline. */
void report__add_timeline(struct json_object *to, const struct timeline *timeline);

/* The covariates; nothing without tables. */
void report__print_correlation(FILE *out, const struct correlation *correlation);
void report__add_correlation(struct json_object *to,
			     const struct correlation *correlation); /* "covariates" */

struct json_object *report__pair_json(const struct correlation_series *series,
				      const struct timeline_probe *probe,
				      const struct correlation_pair *pair);

/* "3.5 ms", "12 %", "4 KiB/s", as the unit of the series; "-": unknown. Returns text. */
const char *report__value(char text[UNITS_TEXT], const struct correlation_series *series,
			  double value);

/* "12 % in 3 intervals of its worst quarter, 5 % in 9 of the others: positive correlation ...". */
void report__add_means(struct wrap *wrap, const struct correlation_series *series,
		       const struct correlation_pair *pair);

/* The pressure: its time line, and which probes follow it. Nothing if it was not recorded. */
void report__print_pressure(FILE *out, const struct correlation *correlation);
void report__add_pressure(struct json_object *to,
			  const struct correlation *correlation); /* "pressure" */
void report__add_pressure_pairs(struct json_object *to,
				const struct correlation *correlation); /* "pressure_pairs" */

#endif
