/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long sleeps by thread, reason and kernel stack, in RUN_STACKS of a probe: what flame graphs of
 * time off the CPU are made of.
 */
#ifndef LATSCOPE_CORE_SLEEP_STACKS_H
#define LATSCOPE_CORE_SLEEP_STACKS_H

#include "table.h"

#define SLEEP_STACKS_OTHER "(other)" /* name of the threads that found no room */

enum sleep_stacks_column {
	SLEEP_STACKS_PID,
	SLEEP_STACKS_COMM, /* of the thread */
	SLEEP_STACKS_STATE, /* what it waited for */
	SLEEP_STACKS_CALL, /* system call in which it slept; empty: none */
	SLEEP_STACKS_STACK, /* addresses in the kernel, innermost first; unknown: not taken */
	SLEEP_STACKS_NS,
	SLEEP_STACKS_TIMES,
	SLEEP_STACKS_OVER_NS, /* how long a sleep must be to count, at the end of the interval */
	SLEEP_STACKS_COLUMNS,
};

/* An empty table, unless there is one. 0 or -ENOMEM. */
int sleep_stacks__new(struct table **table);

/* Has the table these columns? NULL: no. */
bool sleep_stacks__is(const struct table *table);

/* A key of the table's sketch. Texts are never NULL, and valid until the table changes. */
struct sleep_stack {
	int64_t pid; /* 0: unknown */
	const char *comm, *state, *call, *stack;
	uint64_t ns, times;
};

/* `nth` below sleep_stacks__nr(); the last one is those that the sketch gave up, if there are. */
size_t sleep_stacks__nr(const struct table *table);
struct sleep_stack sleep_stacks__nth(const struct table *table, size_t nth);

#endif
