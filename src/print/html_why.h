/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the samples of a probe were slow, over time: for a page. */
#ifndef LATSCOPE_PRINT_HTML_WHY_H
#define LATSCOPE_PRINT_HTML_WHY_H

#include <stdbool.h>

#include <core/run.h>
#include <stats/why.h>

#include "html_series.h"

#define HTML_PAIRS 40 /* of victim and culprit, the largest; the others share one */
#define HTML_SLOW_SPANS 40 /* the recording is divided into so many spans, and of each */
#define HTML_SLOW_EACH 4 /* the slowest events are kept */

struct json_object;

struct html_sums {
	uint64_t ns, events; /* of the current column */
	struct html_series series;
};

/* Tasks of one name are one victim, and one culprit. */
struct html_pair {
	const char *victim, *part, *culprit; /* of the first of them; culprit "": none */
	bool victims, culprits; /* there are several */
	uint64_t ns;
	struct html_sums sums;
};

/* Zeroed before html_why__start(). */
struct html_why {
	bool used;
	size_t nr_pairs, nr_shown; /* HTML_PAIRS of them at most */
	struct why_summary summary;
	struct html_sums parts[WHY_PARTS];
	struct html_pair *pairs; /* the largest first */
	struct html_sums others; /* of pairs that are not shown */
	struct why_slow *slow; /* HTML_SLOW_SPANS * HTML_SLOW_EACH; ns == 0: none */
};

int html_why__start(struct html_why *why, const struct run *run, const struct run_probe *probe);

/* The rows of the interval; `column` of `columns` is where they belong. 0 or -ENOMEM. */
int html_why__add(struct html_why *why, const struct run_probe *probe, size_t column,
		  size_t columns);
void html_why__end_column(struct html_why *why);

struct json_object *html_why__json(struct html_why *why, const struct run *run,
				   const struct run_probe *probe);
void html_why__clear(struct html_why *why);

#endif
