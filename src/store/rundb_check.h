/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens a run.db that may come from an attacker. Such a file can hold more than data: a view in
 * place of a table, code that runs when a row is read, or rows that take days to join. Everything
 * that latscope does not write is refused, and reading takes no more work and memory than the size
 * of the file explains. Nothing is written anywhere. Errors are those of rundb.h.
 */
#ifndef LATSCOPE_STORE_RUNDB_CHECK_H
#define LATSCOPE_STORE_RUNDB_CHECK_H

#include <stdint.h>

#include <sqlite3.h>

/* Must not move until the database is closed. */
struct rundb_budget {
	uint64_t steps; /* steps of SQLite's virtual machine that are still allowed */
};

/* `path` is the file or the directory of the recording. */
int rundb_check__open(sqlite3 **db, const char *path, struct rundb_budget *budget);

/*
 * Is it a recording of a supported version, and does it contain only objects that latscope writes?
 */
int rundb_check__content(sqlite3 *db);

#endif
