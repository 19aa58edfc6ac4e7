/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording or a comparison as one HTML file that needs nothing else: style, script and data are
 * in it, and its policy forbids every request. The script and the style are in web/.
 */
#ifndef LATSCOPE_PRINT_HTML_H
#define LATSCOPE_PRINT_HTML_H

#include <stdio.h>

#include <stats/comparison.h>
#include <stats/correlation.h>

struct html_report {
	struct rundb *db;
	const struct run *run;
	const struct timeline *timeline;
	const struct correlation *correlation;
	const char *text; /* the report as text */
	unsigned int top; /* keys of a split; 0: all */
};

/* Errors of rundb.h, and -ENOMEM. Errors of the stream are left to ferror(). */
int html__report(FILE *out, const struct html_report *report);

/* The first screen of that page as an SVG file; `text` is not needed. */
int html__picture(FILE *out, const struct html_report *report);

/* `text`: the comparison as text. The groups are read again. */
int html__compare(FILE *out, const struct comparison *comparison, const char *text);

#endif
