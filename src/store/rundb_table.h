/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of probes in run.db: run__table() names them, and their columns are described in
 * table_column. For rundb_write.c and rundb_read.c, with the same errors.
 */
#ifndef LATSCOPE_STORE_RUNDB_TABLE_H
#define LATSCOPE_STORE_RUNDB_TABLE_H

#include <stdint.h>

#include <sqlite3.h>

#include "rundb_span.h"

#include <core/table.h>

#define RUNDB_TABLE_SCHEMA                                                      \
	"CREATE TABLE table_column(of_table TEXT, position INTEGER, name TEXT," \
	" unit TEXT, what TEXT, kind TEXT, is_key INTEGER, mean_of TEXT,"       \
	" mean_per TEXT, mean_scale INTEGER,"                                   \
	" PRIMARY KEY(of_table, position)) WITHOUT ROWID;"

int rundb_table__create(sqlite3 *db, const char *name, const struct table *table);

/* Prepares the statement for rundb_table__insert(). */
int rundb_table__prepare(sqlite3 *db, sqlite3_stmt **insert, const char *name,
			 const struct table *table);

/* Writes all rows of the table as rows of one interval, with times since start_ns. */
int rundb_table__insert(sqlite3_stmt *insert, int64_t interval, uint64_t start_ns,
			const struct table *table);

/*
 * Makes an empty table with the columns that the file declares. *table is NULL if it declares none.
 */
int rundb_table__load(sqlite3 *db, const char *name, struct table **table);

/*
 * Adds up the rows of the span in the table's sketch. Before each fold, it calls
 * `each` while the table holds the rows, which may return an error; NULL: no call.
 */
int rundb_table__top_k(sqlite3 *db, const struct rundb_span *span, const char *name,
		       struct table *table, int (*each)(void *context), void *context);

/* Both: the table of that name with the sums of its rows; *table is NULL if there is none. */
int rundb_table__sum(sqlite3 *db, const struct rundb_span *span, const char *name,
		     struct table **table);
/* Loads the probe's table and its further ones, of which the file may have none. */
int rundb_table__load_own(sqlite3 *db, const struct rundb_span *span, struct run_probe *probe);

/* Prepares the statement for rundb_table__read(). */
int rundb_table__select(sqlite3 *db, sqlite3_stmt **select, const char *name,
			const struct table *table);

/* Replaces the rows of the table by those of an interval. */
int rundb_table__read(sqlite3_stmt *select, int64_t interval, struct table *table);

#endif
