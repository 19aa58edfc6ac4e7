/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between the versions of run.db that latscope reads: the statements that read it.
 * Version 1 is that of latscope 0.1. Version 2 was never released.
 */
#ifndef LATSCOPE_STORE_RUNDB_VERSION_H
#define LATSCOPE_STORE_RUNDB_VERSION_H

#include <sqlite3.h>

enum rundb_select {
	RUNDB_SELECT_PROBES,
	RUNDB_SELECT_METRICS,
	RUNDB_SELECT_CHECKS, /* of a probe, by its ID */
	RUNDB_SELECT_COLUMNS, /* of a table, by its name */
	RUNDB_SELECT_FRAMES,
	RUNDB_SELECTS,
};

/* Is the version of the file one of those? 0; -EPROTONOSUPPORT if not; -errno. */
int rundb_version__check(sqlite3 *db);

/* Prepares a statement. All versions return the same columns. */
int rundb_version__prepare(sqlite3 *db, sqlite3_stmt **row, enum rundb_select select);

#endif
