/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why samples were slow: read from run.db, and names for their stacks. For rundb_read.c and
 * rundb_write.c, with their errors.
 */
#ifndef LATSCOPE_STORE_RUNDB_WHY_H
#define LATSCOPE_STORE_RUNDB_WHY_H

#include <sqlite3.h>

#include "rundb_span.h"

#include <core/run.h>

/* The totals, from six columns of the table `probe`; nothing if these are null. */
int rundb_why__totals(struct run_probe *probe, sqlite3_stmt *row, int column);

#define RUNDB_FRAMES_SCHEMA                                                    \
	"CREATE TABLE frame(pid INTEGER, address TEXT, name TEXT, place TEXT," \
	" truncated INTEGER, PRIMARY KEY(pid, address)) WITHOUT ROWID;"

int rundb_why__write_frames(sqlite3 *db, const struct run *run);
int rundb_why__read_frames(sqlite3 *db, struct run *run);

/* The tables, if the probe has them; otherwise frees the totals. */
int rundb_why__read(sqlite3 *db, const struct rundb_span *span, struct run_probe *probe);

#endif
