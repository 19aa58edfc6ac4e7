/* SPDX-License-Identifier: BSD-2-Clause */
/* The long waits: the worst ones of an interval with their chains, and all of them by cause. */
#ifndef LATSCOPE_PROBES_WHERE_WAITS_H
#define LATSCOPE_PROBES_WHERE_WAITS_H

#include <core/table.h>
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
	WAITS_STACK, /* kernel stack, as in the events of why */
	WAITS_COLUMNS,
};

enum causes_column {
	CAUSES_PID,
	CAUSES_COMM,
	CAUSES_STATE,
	CAUSES_CAUSE,
	CAUSES_NS,
	CAUSES_TIMES,
	CAUSES_COLUMNS,
};

struct waits;
struct symbols;

/* `ring`: descriptor of the map `long_parts`. 0 or -errno. */
int waits__new(struct waits **waits, int ring);
void waits__free(struct waits *waits);

/* 0 or -ENOMEM. */
int waits__new_tables(struct table **worst, struct table **causes);

/* Reads what the programs have sent. Returns how many parts, or -errno. */
int waits__take(struct waits *waits, const struct names *names);

/* Adds the rows of an interval; times of rows are since `opened_ns`. 0 or -ENOMEM. */
int waits__add(struct waits *waits, struct table *worst, struct table *causes, uint64_t opened_ns,
	       uint64_t time_ns, const struct names *names, struct symbols *symbols);

#endif
