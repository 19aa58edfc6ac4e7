/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tables of a recording have beside the slow events of its modules: was the memory of a
 * socket slow when page faults were? Of a table it is the first column in ns, by key.
 */
#ifndef LATSCOPE_STATS_CORRELATION_H
#define LATSCOPE_STATS_CORRELATION_H

#include "timeline.h"

#define CORRELATION_SERIES 64 /* most keys that are looked at, of all tables */

/* A key beside one module. */
struct correlation_figure {
	size_t worst_nr, other_nr; /* intervals in which the value is known */
	double worst, other; /* its mean in the module's worst quarter and otherwise; NAN: none */
	struct ranks_correlation found; /* of the module's slow share and the value */
	double adjusted; /* p, for the number of figures; NAN: not tested */
	enum timeline_verdict verdict;
};

struct correlation_series {
	const struct run_probe *probe; /* whose table it is */
	unsigned int column;
	size_t key; /* of the table's digest */
	char name[RUN_NAME]; /* "socket 0, tier local-ddr" */
	double *values; /* mean by interval; NAN: not known */
	struct correlation_figure figures[RUN_PROBES]; /* of timeline->modules */
};

struct correlation {
	const struct timeline *timeline;
	struct correlation_series series[CORRELATION_SERIES];
	unsigned int nr;
};

/* After timeline__read(). Errors as there; beside__clear() is owed in any case. */
int correlation__read(struct correlation *correlation, const struct timeline *timeline,
		      struct rundb *db);
void correlation__clear(struct correlation *correlation);

#endif
