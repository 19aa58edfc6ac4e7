// SPDX-License-Identifier: BSD-2-Clause
#include "sql.h"

#include <errno.h>
#include <stddef.h>

/* The error of the system call, if SQLite kept it. */
static int system_error(sqlite3 *db, int otherwise)
{
	int err = sqlite3_system_errno(db);

	return err ? -err : otherwise;
}

int sql__error(sqlite3 *db)
{
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_NOTADB:
		return -EMEDIUMTYPE;
	case SQLITE_CORRUPT:
	case SQLITE_SCHEMA:
	/* the statements are correct, so a table or column is not as latscope makes it */
	case SQLITE_ERROR:
		return -EUCLEAN;
	case SQLITE_AUTH:
	case SQLITE_TOOBIG: /* a row longer than latscope writes, see rundb_check.c */
		return -EUCLEAN;
	case SQLITE_INTERRUPT: /* the progress handler interrupted it */
		return -EOVERFLOW;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return system_error(db, -EROFS);
	case SQLITE_PERM:
		return system_error(db, -EACCES);
	default:
		return system_error(db, -EIO);
	}
}

int sql__exec(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) ? sql__error(db) : 0;
}

int sql__prepare(sqlite3 *db, sqlite3_stmt **statement, const char *sql)
{
	return sqlite3_prepare_v2(db, sql, -1, statement, NULL) ? sql__error(db) : 0;
}

int sql__exec_built(sqlite3 *db, sqlite3_str *text)
{
	char *sql = sqlite3_str_finish(text);
	int err = sql ? sql__exec(db, sql) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

int sql__prepare_built(sqlite3 *db, sqlite3_stmt **statement, sqlite3_str *text)
{
	char *sql = sqlite3_str_finish(text);
	int err;

	*statement = NULL;
	err = sql ? sql__prepare(db, statement, sql) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

int sql__step(sqlite3_stmt *statement)
{
	sqlite3 *db = sqlite3_db_handle(statement);
	int err;

	switch (sqlite3_step(statement)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		sqlite3_reset(statement);
		return 0;
	}
	err = sql__error(db);
	sqlite3_reset(statement);
	return err;
}

int sql__each(sqlite3_stmt *statement, sql_take *take, void *to)
{
	int err;

	while ((err = sql__step(statement)) > 0) {
		err = take(statement, to);
		if (err)
			break;
	}
	return err;
}

int sql__finish(int err, sqlite3_stmt *statement, sql_take *take, void *to)
{
	if (!err)
		err = sql__each(statement, take, to);
	sqlite3_finalize(statement);
	return err;
}

int sql__take_number(sqlite3_stmt *row, void *value)
{
	*(int64_t *)value = sqlite3_column_int64(row, 0);
	return 0;
}

int sql__number(sqlite3 *db, const char *sql, int64_t *value)
{
	sqlite3_stmt *row;
	int err = sql__prepare(db, &row, sql);

	return sql__finish(err, row, sql__take_number, value);
}

static int bind(sqlite3_stmt *statement, int index, char type, va_list *parameters)
{
	if (type == 'i')
		return sqlite3_bind_int64(statement, index, va_arg(*parameters, int64_t));
	/* The caller's text lives until the statement has run, and is not read later. */
	return sqlite3_bind_text(statement, index, va_arg(*parameters, const char *), -1,
				 SQLITE_STATIC);
}

int sql__run_with(sqlite3_stmt *statement, const char *types, va_list parameters)
{
	va_list rest;
	int err = 0;

	va_copy(rest, parameters);
	for (int i = 0; !err && types[i]; i++)
		err = bind(statement, i + 1, types[i], &rest);
	va_end(rest);
	if (err)
		return sql__error(sqlite3_db_handle(statement));
	err = sql__step(statement);
	sqlite3_reset(statement);
	return err < 0 ? err : 0;
}

int sql__run(sqlite3_stmt *statement, const char *types, ...)
{
	va_list parameters;
	int err;

	va_start(parameters, types);
	err = sql__run_with(statement, types, parameters);
	va_end(parameters);
	return err;
}
