/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the writer and the reader of run.db: SQLite's errors as -errno, and statements.
 */
#ifndef LATSCOPE_STORE_SQL_H
#define LATSCOPE_STORE_SQL_H

#include <stdarg.h>
#include <stdint.h>

#include <sqlite3.h>

#define SQL_APPLICATION_ID 0x4c617473 /* "Lats", in the file's header */

/*
 * Error of the last call. -ENOSPC: disk full; -EUCLEAN: damaged; -EMEDIUMTYPE: no database;
 * -EOVERFLOW: too much work; -E2BIG: a value is too long.
 */
int sql__error(sqlite3 *db);

/* Runs one or more statements without parameters or results. */
int sql__exec(sqlite3 *db, const char *sql);

int sql__prepare(sqlite3 *db, sqlite3_stmt **statement, const char *sql);

/* The same for a text that was built piece by piece; they free it. */
int sql__exec_built(sqlite3 *db, sqlite3_str *text);
int sql__prepare_built(sqlite3 *db, sqlite3_stmt **statement, sqlite3_str *text);

/*
 * Runs a statement without results and resets it. `types` has a letter for each parameter: i is an
 * int64_t, t a const char * (NULL is null).
 */
int sql__run(sqlite3_stmt *statement, const char *types, ...);
int sql__run_with(sqlite3_stmt *statement, const char *types, va_list parameters);

/* 1: there is a row; 0: no more rows, the statement is reset; -errno. */
int sql__step(sqlite3_stmt *statement);

/* Calls take() for each row, until it returns an error, which is then that of the call. */
typedef int sql_take(sqlite3_stmt *row, void *to);
int sql__each(sqlite3_stmt *statement, sql_take *take, void *to);

/*
 * Calls sql__each(), unless preparing the statement failed with `err`, which is then returned.
 * Finalizes the statement in either case.
 */
int sql__finish(int err, sqlite3_stmt *statement, sql_take *take, void *to);

/* The number in the first row; unless there is one, it stays. */
int sql__number(sqlite3 *db, const char *sql, int64_t *value);
int sql__take_number(sqlite3_stmt *row, void *value);

#endif
