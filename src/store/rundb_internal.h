/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the reader and the writer of run.db share; rundb.h is for everybody. */
#ifndef LATSCOPE_STORE_RUNDB_INTERNAL_H
#define LATSCOPE_STORE_RUNDB_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include <core/run.h>

/* ---- rundb_file.c ---- */

/*
 * How SQLite opens the files of run.db:
 *
 * - by the directory's descriptor, so that nobody can redirect it;
 * - without run.db-shm: on a full file system with small blocks, access to it would raise SIGBUS;
 * - for reading, without writing anything anywhere.
 *
 * The index of the log, which is normally run.db-shm, is in private memory instead. SQLite does
 * this only if it has the database to itself (locking_mode=EXCLUSIVE), but readers must be able to
 * read a recording that is still running. So no process takes more than a shared lock. The recorder
 * folds the log in only if it gets the exclusive lock, that is, when there is no reader. This works
 * with readers of other programs, too, such as sqlite3.
 */

/* 0 or -errno. A file to be written must exist. The connection is for one thread. */
int rundb_file__open_to_write(sqlite3 **db, const char *path);
int rundb_file__open_to_read(sqlite3 **db, const char *path);

/*
 * Returns -EBUSY while there is a reader. After success, no reader can start until
 * let_readers_in().
 */
int rundb_file__keep_readers_out(sqlite3 *db);
void rundb_file__let_readers_in(sqlite3 *db);

/* ---- rundb_check.c ---- */

/*
 * Opens a run.db that may come from an attacker. Such a file can hold more than data: a view in
 * place of a table, code that runs when a row is read, or rows that take days to join. Everything
 * that latscope does not write is refused, and reading takes no more work and memory than the size
 * of the file explains. Nothing is written anywhere. Errors are those of rundb.h.
 */

/* Must not move until the database is closed. */
struct rundb_budget {
	uint64_t steps; /* steps of SQLite's virtual machine that are still allowed */
	uint64_t all; /* at the beginning, and each time that reading starts again */
};

/* `path` is the file or the directory of the recording. */
int rundb_check__open(sqlite3 **db, const char *path, struct rundb_budget *budget);

/*
 * Is it a recording of a supported version, and does it contain only objects that latscope writes?
 */
int rundb_check__content(sqlite3 *db);

/* ---- rundb_row.c ---- */

/*
 * Reads the columns of a row of run.db with their expected types. 0, -EUCLEAN: another type, or
 * -ENOMEM.
 */

/* In an undamaged file, numbers are present and not negative. */
int rundb_row__number(sqlite3_stmt *row, int column, uint64_t *value);

/* A text that is null or too long is shortened, not refused. */
void rundb_row__text(sqlite3_stmt *row, int column, char *text, size_t size);

/* Replaces *text by an allocated copy, which the caller must free. */
int rundb_row__owned(sqlite3_stmt *row, int column, char **text);

int rundb_row__flag(sqlite3_stmt *row, int column, bool *flag);

/* ---- rundb_process.c ---- */

/* Table `process`: how long each process lived within the window. 0 or -errno. */
int rundb_process__write(sqlite3 *db, const struct run *run);
int rundb_process__read(sqlite3 *db, struct run *run);

/* ---- rundb_meta.c ---- */

/* Takes a row of meta, `name` and `value`. 0, -ENOMEM or -EUCLEAN. */
int rundb_meta__take(struct run *run, sqlite3_stmt *row);

/* ---- rundb_account.c ---- */

/* Table `kernel_check` of run.db: the probes' sums and the kernel's own. */

#define RUNDB_ACCOUNT_SCHEMA                                                             \
	"CREATE TABLE kernel_check(probe INTEGER, sum TEXT, source TEXT, why TEXT,"      \
	" ours_low INTEGER, ours_high INTEGER, kernel_low INTEGER, kernel_high INTEGER," \
	" tolerance INTEGER, PRIMARY KEY(probe, sum)) WITHOUT ROWID;"

/* All return 0 or -errno. */
int rundb_account__write(sqlite3 *db, int64_t probe, const struct run_check *check);
int rundb_account__read(sqlite3 *db, int64_t probe, struct run_check *check);

#endif
