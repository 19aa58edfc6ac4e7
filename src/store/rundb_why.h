/* SPDX-License-Identifier: BSD-2-Clause */
/* Why samples were slow, read from run.db. For rundb_read.c, with the same errors. */
#ifndef LATSCOPE_STORE_RUNDB_WHY_H
#define LATSCOPE_STORE_RUNDB_WHY_H

#include <sqlite3.h>

#include <core/run.h>

/* The totals, from six columns of the table `probe`; nothing if these are null. */
int rundb_why__totals(struct run_probe *probe, sqlite3_stmt *row, int column);

/* The tables, if the probe has them; otherwise frees the totals. */
int rundb_why__read(sqlite3 *db, struct run_probe *probe);

#endif
