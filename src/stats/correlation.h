/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Covariates: do values of the tables change with the slow events of a probe? For example, was the
 * memory of a socket slow when page faults were? Each key of the first column in ns is a covariate.
 */
#ifndef LATSCOPE_STATS_CORRELATION_H
#define LATSCOPE_STATS_CORRELATION_H

#include "timeline.h"

#define CORRELATION_SERIES 64 /* maximum keys, of all tables */

/* A key and one probe. */
struct correlation_pair {
	size_t worst_nr, other_nr; /* intervals in which the value is known */
	double worst, other; /* mean in the probe's worst quarter, and in the others; or NAN */
	struct ranks_correlation found; /* of the probe's slow share and the value */
	double adjusted; /* p, for the number of tests; NAN: not tested */
	enum timeline_verdict verdict;
};

struct correlation_series {
	const struct run_probe *probe; /* the table is this probe's */
	unsigned int column;
	size_t key; /* of the table's sketch */
	char name[RUN_NAME]; /* "socket 0, tier local-ddr" */
	double *values; /* mean by interval; NAN: not known */
	struct correlation_pair pairs[RUN_PROBES]; /* by timeline->probes */
};

struct correlation {
	const struct timeline *timeline;
	struct correlation_series series[CORRELATION_SERIES];
	unsigned int nr;
};

/* After timeline__read(). The caller must always call correlation__clear(). */
int correlation__read(struct correlation *correlation, const struct timeline *timeline,
		      struct rundb *db);
void correlation__clear(struct correlation *correlation);

#endif
