/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of RUN_WAITS: long waits, and who ended them. */
#ifndef LATSCOPE_EXPORT_WAITS_H
#define LATSCOPE_EXPORT_WAITS_H

#include <core/table.h>

enum wait_column {
	WAIT_PID,
	WAIT_TID,
	WAIT_COMM,
	WAIT_STATE,
	WAIT_CALL,
	WAIT_CHAIN,
	WAIT_NS,
	WAIT_STACK,
	WAIT_FIRST_COLUMNS, /* those that follow may be missing */
	WAIT_WAKER_PID = WAIT_FIRST_COLUMNS,
	WAIT_WAKER_TID,
	WAIT_WAKER,
	WAIT_COLUMNS,
};

struct waits {
	int columns[WAIT_COLUMNS]; /* of the table; -1: it has none */
};

/* A row. Texts are never NULL, and valid until the table changes. */
struct wait {
	int64_t end_ns; /* since the window opened */
	int64_t ns;
	int64_t pid, tid, waker_pid, waker_tid; /* 0: unknown */
	const char *comm, *state, *call, *chain, *stack, *waker;
};

/* False: it is no such table. NULL is fine. */
bool waits__find(const struct table *table, struct waits *waits);
struct wait waits__read(const struct table *table, const struct waits *waits, size_t row);

#endif
