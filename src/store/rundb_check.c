// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <core/run.h>

#include "rundb_rows.h"
#include "sql.h"

#define LOG_WAIT_MS 2000
#define MOST_OBJECTS 256 /* tables, indices and views; a recording has about 30 */

/* To report a recording takes about one step for each byte. */
#define STEPS_AT_ONCE 1000 /* counted separately for each statement */
#define STEPS_LEAST 50000000ULL
#define STEPS_PER_BYTE 16

/* Without this, a sort with a few bytes per row could take all memory. */
#define MOST_HEAP (1LL << 30)

/* Far more than recordings and the reader's statements need. */
static const struct {
	int which, most;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 16 << 20 }, /* a row: the longest has the workload's command line */
	{ SQLITE_LIMIT_SQL_LENGTH, 256 << 10 }, { SQLITE_LIMIT_COLUMN, 256 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 64 },	{ SQLITE_LIMIT_COMPOUND_SELECT, 2 },
	{ SQLITE_LIMIT_VDBE_OP, 100000 },	{ SQLITE_LIMIT_FUNCTION_ARG, 8 },
	{ SQLITE_LIMIT_ATTACHED, 0 },		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

static const struct {
	int which, on;
} settings[] = {
	{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
	{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
	{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
	{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
};

static const char safety[] = "PRAGMA trusted_schema=OFF;"
			     "PRAGMA query_only=ON;"
			     "PRAGMA cell_size_check=ON";

/* Allows only what the reader's statements need: no recursion, no access through a view. */
static int authorize(void *arg, int action, const char *one, const char *two, const char *database,
		     const char *by)
{
	static const char *const functions[] = { "count", "max", "sum" };

	(void)arg;
	(void)one;
	(void)database;
	if (by)
		return SQLITE_DENY;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_TRANSACTION:
	case SQLITE_PRAGMA:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			if (!strcmp(two, functions[i]))
				return SQLITE_OK;
	}
	return SQLITE_DENY;
}

static int spend(void *arg)
{
	struct rundb_budget *budget = arg;

	if (budget->steps < STEPS_AT_ONCE)
		return 1;
	budget->steps -= STEPS_AT_ONCE;
	return 0;
}

static int restrict_to_reading(sqlite3 *db, struct rundb_budget *budget)
{
	int err;

	sqlite3_hard_heap_limit64(MOST_HEAP);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i].which, limits[i].most);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		sqlite3_db_config(db, settings[i].which, settings[i].on, NULL);
	sqlite3_busy_timeout(db, LOG_WAIT_MS);
	sqlite3_progress_handler(db, STEPS_AT_ONCE, spend, budget);
	err = sql__exec(db, safety);
	sqlite3_set_authorizer(db, authorize, NULL);
	return err;
}

/* Adds the size of a file that SQLite would open together with run.db, if it exists. */
static int add_companion(const char *file, const char *suffix, uint64_t *bytes)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s%s", file, suffix) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (stat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADFD;
	*bytes += (uint64_t)st.st_size;
	return 0;
}

/* Path and size of run.db and its log. -EMEDIUMTYPE: a pipe, a device ... */
static int find_file(const char *path, char file[PATH_MAX], uint64_t *bytes)
{
	struct stat st;
	int err;

	if (stat(path, &st))
		return -errno;
	if (snprintf(file, PATH_MAX, "%s%s", path, S_ISDIR(st.st_mode) ? "/run.db" : "") >=
	    PATH_MAX)
		return -ENAMETOOLONG;
	if (stat(file, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EMEDIUMTYPE;
	*bytes = (uint64_t)st.st_size;
	err = add_companion(file, "-wal", bytes);
	return err ? err : add_companion(file, "-journal", bytes);
}

int rundb_check__open(sqlite3 **db, const char *path, struct rundb_budget *budget)
{
	uint64_t bytes = 0;
	char file[PATH_MAX];
	int err;

	*db = NULL;
	err = find_file(path, file, &bytes);
	if (err)
		return err;
	budget->steps = budget->all = STEPS_LEAST + STEPS_PER_BYTE * bytes;
	err = rundb_file__open_to_read(db, file);
	if (!err)
		err = restrict_to_reading(*db, budget);
	if (err) {
		sqlite3_close(*db);
		*db = NULL;
	}
	return err;
}

static int check_version(sqlite3 *db)
{
	int64_t application = 0, version = 0;
	int err = sql__number(db, "PRAGMA application_id", &application);

	if (!err)
		err = sql__number(db, "PRAGMA user_version", &version);
	if (err)
		return err;
	if (application != SQL_APPLICATION_ID)
		return -EMEDIUMTYPE;
	return version == RUNDB_FIRST || version == RUN_SCHEMA ? 0 : -EPROTONOSUPPORT;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * How SQLite treats an object depends on its SQL and not on its type, so both must agree. Views are
 * only for users of sqlite3; latscope does not read them. A later version may have other tables.
 */
static bool is_ours(const char *type, const char *name, const char *sql)
{
	if (!type || !name)
		return false;
	if (!strcmp(type, "table"))
		return sql && begins(sql, "CREATE TABLE ");
	if (!strcmp(type, "index"))
		return !sql || begins(sql, "CREATE INDEX ") || begins(sql, "CREATE UNIQUE INDEX ");
	return !strcmp(type, "view") && !strcmp(name, "totals") && sql &&
	       begins(sql, "CREATE VIEW totals AS ");
}

static const char *text_of(sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column);
}

/* Refuses columns that are computed when they are read; a recording has none. */
static int check_column(sqlite3_stmt *row, void *unused)
{
	(void)unused;
	return sqlite3_column_int(row, 6) ? -EUCLEAN : 0;
}

static int check_columns(sqlite3 *db, const char *table)
{
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_stmt *row = NULL;
	int err;

	sqlite3_str_appendf(text, "PRAGMA table_xinfo(\"%w\")", table);
	err = sql__prepare_built(db, &row, text);
	return sql__finish(err, row, check_column, NULL);
}

static int check_object(sqlite3_stmt *row, void *nr)
{
	const char *type = text_of(row, 0), *name = text_of(row, 1);

	if (++*(int *)nr > MOST_OBJECTS || !is_ours(type, name, text_of(row, 2)))
		return -EUCLEAN;
	return strcmp(type, "table") ? 0 : check_columns(sqlite3_db_handle(row), name);
}

int rundb_check__content(sqlite3 *db)
{
	sqlite3_stmt *row = NULL;
	int err = check_version(db), nr = 0;

	if (!err)
		err = sql__prepare(db, &row, "SELECT type, name, sql FROM sqlite_master");
	return sql__finish(err, row, check_object, &nr);
}
