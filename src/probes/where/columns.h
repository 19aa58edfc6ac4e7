/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of where: the parts of each process's time, and what its sleeps were for. */
#ifndef LATSCOPE_PROBES_WHERE_COLUMNS_H
#define LATSCOPE_PROBES_WHERE_COLUMNS_H

#include <core/table.h>
#include <host/names.h>

#include "sums.h"
#include "view_states.h"

enum parts_column {
	PARTS_PID, /* unknown: those that began and ended in one interval, by name */
	PARTS_TID, /* unknown unless sums are of threads */
	PARTS_COMM,
	PARTS_CGROUP,
	PARTS_LIFE_NS, /* of all threads; the parts sum to it */
	PARTS_STATES, /* a column for each enum where_state from here on */
	PARTS_USER_NS = PARTS_STATES + WHERE_STATES,
	PARTS_SYSTEM_NS,
	PARTS_RUN_NS, /* by the kernel's account, as the next one */
	PARTS_QUEUE_NS,
	PARTS_IO_NS, /* by its delay accounting; unknown: it does not keep it for each thread */
	PARTS_THREADS,
	PARTS_ENDED,
	PARTS_COLUMNS,
};

enum sleeps_column {
	SLEEPS_STATE = PARTS_COMM + 1, /* after the same columns */
	SLEEPS_CALL,
	SLEEPS_NS,
	SLEEPS_TIMES,
	SLEEPS_COLUMNS,
};

enum gaps_column {
	GAPS_REASON, /* one of where_gaps */
	GAPS_TIMES,
	GAPS_NS,
	GAPS_COLUMNS,
};

/* Since the window opened, by enum where_gap. */
struct gaps {
	uint64_t times[WHERE_GAPS];
	uint64_t ns[WHERE_GAPS];
};

/* Each returns 0 or -ENOMEM. */
int columns__new(struct table **parts, struct table **sleeps, struct table **gaps);

/* Adds those that grew since `before`, and keeps `now` there. */
int columns__add_gaps(struct table *table, uint64_t time_ns, const struct gaps *now,
		      struct gaps *before);

/* Adds the rows of an interval: what changed since the last one. */
int columns__add(struct table *parts, struct table *sleeps, uint64_t time_ns,
		 const struct where_sums *sums, enum lat_by by, const struct names *names);

#endif
