/* SPDX-License-Identifier: BSD-2-Clause */
/* The intervals of run.db that are read: all, or those of a span of time. */
#ifndef LATSCOPE_STORE_RUNDB_SPAN_H
#define LATSCOPE_STORE_RUNDB_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include <core/run.h>

struct rundb_span {
	bool is_set; /* false: the whole recording */
	uint64_t from_ns, to_ns; /* since the window opened */
	int64_t first, last; /* IDs of the intervals */
};

/*
 * Finds the intervals whose middle is in the span: spans that follow each other share none. Fills
 * in the run's span and duration. 0, -ENODATA: there is none; other errors of rundb.h.
 */
int rundb_span__find(sqlite3 *db, struct rundb_span *span, struct run *run);

/* Prepares "`select` WHERE `column` is in the span `order`". */
int rundb_span__prepare(sqlite3 *db, const struct rundb_span *span, sqlite3_stmt **statement,
			const char *select, const char *column, const char *order);

/* Removes what is known only of the whole recording. The probe has no tables yet. */
void rundb_span__forget(struct run_probe *probe);

#endif
