/* SPDX-License-Identifier: BSD-2-Clause */
/* The statistics of a report over all probes: time line, correlation, contributors. */
#ifndef LATSCOPE_PRINT_REPORT_H
#define LATSCOPE_PRINT_REPORT_H

#include <stdio.h>

#include <core/units.h>
#include <stats/correlation.h>

#include "probe_view.h"
#include "text.h"
#include "wrap.h"

struct json_object;

/* Maximum lines of the time line without --all-intervals: what a terminal shows at once. */
#define REPORT_LINES 24

/*
 * At most 80 columns with up to three probes. `top`: lines of a split; 0: all. `verbose`: also
 * pairs without a correlation in full, and the method.
 */
void report__print_timeline(FILE *out, const struct timeline *timeline, unsigned int top,
			    bool verbose);

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

/* "12 % when they were slowest, 5 % otherwise"; `verbose`: also the correlation. */
void report__add_means(struct wrap *wrap, const struct correlation_series *series,
		       const struct correlation_pair *pair, bool verbose);

/*
 * The pressure: its time line, and which probes follow it, with all numbers if `verbose`. Nothing
 * if it was not recorded.
 */
void report__print_pressure(FILE *out, const struct correlation *correlation, bool verbose);
void report__add_pressure(struct json_object *to,
			  const struct correlation *correlation); /* "pressure" */
/* Without intervals: what each column is on average. Nothing if it was not measured. */
void report__add_pressure_means(struct json_object *to, const struct run *run); /* "pressure" */
void report__add_pressure_pairs(struct json_object *to,
				const struct correlation *correlation); /* "pressure_pairs" */

/* ---- whole.c ---- */

/* The rules of a report without options. */
#define WHOLE_RULES                                       \
	{                                                 \
		.confidence = 0.95, .lines = REPORT_LINES \
	}
#define WHOLE_PAGE_KEYS 20 /* of each split: a page has room for more than a terminal */

struct whole {
	struct timeline timeline;
	struct correlation correlation;
	void *more[RUN_PROBES]; /* by probe_view__nth(): what it has read */
};

/* Reads the intervals. Errors of rundb.h, and -ENOMEM. whole__free() also after an error. */
int whole__new(struct whole **whole, struct rundb *db, const struct run *run,
	       const struct timeline_rules *rules);
void whole__free(struct whole *whole); /* NULL is allowed */

/* `whole`: NULL: the probes alone. */
int whole__print_text(FILE *out, const struct text_style *style, const struct run *run,
		      const struct whole *whole);

/* The same as JSON. */
int whole__print_json(FILE *out, const struct run *run, const struct whole *whole);

/* `top`: keys of a split; 0: all. Errors as html__report(). */
int whole__print_page(FILE *out, struct rundb *db, const struct run *run, const struct whole *whole,
		      unsigned int top);

/* The first screen of the page as an SVG file. Likewise. */
int whole__print_picture(FILE *out, struct rundb *db, const struct run *run,
			 const struct whole *whole);

#endif
