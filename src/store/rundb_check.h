/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens run.db of whoever made it. A file can hold more than data: a view in place of a table, code
 * that runs when a row is read, or rows that take days to join. What we do not write is refused,
 * and reading takes no more work and memory than the size of the file explains. Nothing is written
 * anywhere. Errors are those of rundb.h.
 */
#ifndef LATSCOPE_STORE_RUNDB_CHECK_H
#define LATSCOPE_STORE_RUNDB_CHECK_H

#include <stdint.h>

#include <sqlite3.h>

/* Must stay where it is until the database is closed. */
struct rundb_budget {
	uint64_t steps; /* of SQLite's machine, still allowed */
};

/* `path` is the file or the directory of the recording. */
int rundb_check__open(sqlite3 **db, const char *path, struct rundb_budget *budget);

/* Is it a recording of a version that we know, and is everything in it of a kind that we write? */
int rundb_check__content(sqlite3 *db);

#endif
