/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The long waits: the worst ones of an interval with their chains, and all of them by cause and by
 * stack.
 */
#ifndef LATSCOPE_PROBES_WHERE_WAITS_H
#define LATSCOPE_PROBES_WHERE_WAITS_H

#include <core/run.h>
#include <host/names.h>

#include "types.h"

enum waits_column {
	WAITS_PID,
	WAITS_TID,
	WAITS_COMM, /* of the thread */
	WAITS_STATE,
	WAITS_CALL,
	WAITS_CHAIN, /* who ended it, and what that thread did meanwhile */
	WAITS_NS,
	WAITS_EXPLAINED_NS, /* see chain__explained_ns() */
	WAITS_STACK, /* kernel stack, as in the events of why */
	WAITS_WAKER_PID,
	WAITS_WAKER_TID, /* unknown: no thread ended it */
	WAITS_WAKER,
	WAITS_COLUMNS,
};

enum causes_column {
	CAUSES_PID,
	CAUSES_COMM,
	CAUSES_STATE,
	CAUSES_CAUSE,
	CAUSES_NS,
	CAUSES_EXPLAINED_NS,
	CAUSES_TIMES,
	CAUSES_COLUMNS,
};

struct waits;
struct symbols;

/* `ring`: descriptor of the map `long_parts`. 0 or -errno. */
int waits__new(struct waits **waits, int ring);
void waits__free(struct waits *waits);

/* The tables RUN_WAITS, RUN_CAUSES and RUN_STACKS. 0 or -ENOMEM. */
int waits__new_tables(struct table *more[RUN_MORE]);

/* Reads what the programs have sent. Returns how many parts, or -errno. */
int waits__take(struct waits *waits, const struct names *names);

struct waits_interval {
	uint64_t opened_ns; /* CLOCK_MONOTONIC; times of rows are since then */
	uint64_t time_ns; /* its end */
	uint64_t over_ns; /* how long a part must be to be sent */
};

/* Adds the rows of an interval to these tables. 0 or -ENOMEM. */
int waits__add(struct waits *waits, struct table *const more[RUN_MORE],
	       const struct waits_interval *interval, const struct names *names,
	       struct symbols *symbols);

#endif
