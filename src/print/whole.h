/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole recording: all its probes, with the statistics over them, as text or as a page. */
#ifndef LATSCOPE_PRINT_WHOLE_H
#define LATSCOPE_PRINT_WHOLE_H

#include <stdio.h>

#include <stats/correlation.h>

#include "probe_view.h"
#include "report.h"
#include "text.h"

/* The rules of a report without options. */
#define WHOLE_RULES                                       \
	{                                                 \
		.confidence = 0.95, .lines = REPORT_LINES \
	}
#define WHOLE_PAGE_KEYS 20 /* of each split: a page has room for more than a terminal */

struct whole {
	struct timeline timeline;
	struct correlation correlation;
	unsigned int nr_views;
	const struct probe_view *views[RUN_PROBES];
	void *more[RUN_PROBES]; /* by view: what it has read */
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

#endif
