/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of where: the parts of each process's time, and what its sleeps were for. */
#ifndef LATSCOPE_PROBES_WHERE_COLUMNS_H
#define LATSCOPE_PROBES_WHERE_COLUMNS_H

#include <core/table.h>
#include <host/names.h>

#include "sums.h"

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

/* 0 or -ENOMEM. */
int columns__new(struct table **parts, struct table **sleeps);

/* Adds the rows of an interval: what changed since the last one. 0 or -ENOMEM. */
int columns__add(struct table *parts, struct table *sleeps, uint64_t time_ns,
		 const struct where_sums *sums, enum lat_by by, const struct names *names);

#endif
