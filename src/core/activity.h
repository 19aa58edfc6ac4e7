/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes did with their time, by the scheduler's own account: on a CPU, waiting for one,
 * asleep. What they slept for, the probes may not see; then the system call says more.
 */
#ifndef LATSCOPE_CORE_ACTIVITY_H
#define LATSCOPE_CORE_ACTIVITY_H

#include "table.h"

#define ACTIVITY_NAME "activity" /* of the table in a recording */

enum activity_column {
	ACTIVITY_PROCESS, /* its name */
	ACTIVITY_PID,
	ACTIVITY_CHOSEN, /* 1: by the filters; 0: there are none, and it was awake longer */
	ACTIVITY_THREADS, /* that were seen */
	ACTIVITY_LIVED_NS, /* of all its threads within the window */
	ACTIVITY_RUN_NS, /* of it */
	ACTIVITY_QUEUE_NS, /* of it; the rest is sleep */
	ACTIVITY_LOOKS, /* how often a thread was looked at */
	ACTIVITY_ASLEEP, /* of them */
	ACTIVITY_BLOCKED, /* of these */
	ACTIVITY_CALL, /* where it slept most often; unknown: not in a system call */
	ACTIVITY_IN_CALL, /* how often */
	ACTIVITY_COLUMNS,
};

extern const struct table_column activity_columns[ACTIVITY_COLUMNS];

/* A row, as read from the table's sketch. */
struct activity {
	const char *process, *call; /* call NULL: unknown */
	bool chosen;
	uint64_t pid, threads, lived_ns, run_ns, queue_ns;
	uint64_t looks, asleep, blocked, in_call;
};

/* Does the table have these columns? */
bool activity__is(const struct table *table);

struct activity activity__of(const struct table *table, size_t key);

/* The rest of its life. */
uint64_t activity__sleep_ns(const struct activity *activity);

#endif
