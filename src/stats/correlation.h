/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Covariates: do values of the tables change with the slow events of a probe? For example, was the
 * memory of a socket slow when page faults were, or did tasks wait for memory? Each key of the
 * first column in ns of a probe's table is a covariate, and each column of the pressure.
 */
#ifndef LATSCOPE_STATS_CORRELATION_H
#define LATSCOPE_STATS_CORRELATION_H

#include <core/pressure.h>

#include "timeline.h"

#define CORRELATION_KEYS 64 /* maximum keys, of all tables of probes */
#define CORRELATION_SERIES (CORRELATION_KEYS + PRESSURE_COLUMNS)
#define CORRELATION_WHY 128

/* The tests of a family are corrected for their number together. */
enum correlation_family {
	CORRELATION_LATENCY, /* keys of a probe's table: mean in ns */
	CORRELATION_PRESSURE, /* CPU, memory and I/O pressure: share of the time */
	CORRELATION_DETAILS, /* the other columns of the table: share of the time, or per second */
	CORRELATION_FAMILIES,
};

enum correlation_unit {
	CORRELATION_NS,
	CORRELATION_SHARE, /* of the time */
	CORRELATION_PER_SECOND,
	CORRELATION_BYTES,
	CORRELATION_BYTES_PER_SECOND,
};

/* A covariate and one probe. */
struct correlation_pair {
	size_t worst_nr, other_nr; /* intervals in which the value is known */
	double worst, other; /* mean in the probe's worst quarter, and in the others; or NAN */
	struct ranks_correlation found; /* of the probe's slow share and the value */
	double adjusted; /* p, for the number of tests; NAN: not tested, see `why` */
	enum timeline_verdict verdict;
	char why[CORRELATION_WHY]; /* empty: tested */
};

struct correlation_series {
	enum correlation_family family;
	enum correlation_unit unit;
	const struct table *table;
	const char *of; /* its name: "tierlat", "pressure" */
	unsigned int column;
	size_t key; /* of the table's sketch */
	char name[RUN_NAME]; /* "socket 0, tier local-ddr", "memory some" */
	double *values; /* mean, share or rate by interval; NAN: not known */
	double most; /* the largest of them; NAN: none is known */
	struct correlation_pair pairs[RUN_PROBES]; /* by timeline->probes */
};

struct correlation {
	const struct timeline *timeline;
	struct correlation_series series[CORRELATION_SERIES]; /* those of the pressure are last */
	unsigned int nr, nr_keys; /* all; of the tables of probes */
	uint64_t *read_ns; /* of the pressure, by interval: since the reading before it */
};

/* NULL: the pressure was not recorded. */
const struct correlation_series *correlation__pressure(const struct correlation *correlation,
						       enum pressure_column column);

/*
 * Compares each of the series with each probe, and judges these tests together. For series of a
 * caller's own. 0 or -ENOMEM.
 */
int correlation__compare(const struct timeline *timeline, struct correlation_series *series,
			 unsigned int nr);

/* After timeline__read(). The caller must always call correlation__clear(). */
int correlation__read(struct correlation *correlation, const struct timeline *timeline,
		      struct rundb *db);
void correlation__clear(struct correlation *correlation);

#endif
