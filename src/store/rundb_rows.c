// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/frames.h>
#include <core/sanitize.h>
#include <core/split.h>

#include "sql.h"

static bool is_text(enum rundb_kind kind)
{
	return kind >= RUNDB_SPLITS;
}

int rundb_rows__create(sqlite3 *db, const struct rundb_rows *rows)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendf(text, "CREATE TABLE %s(", rows->name);
	for (unsigned int i = 0; i < rows->nr; i++)
		sqlite3_str_appendf(text, "%s %s, ", rows->columns[i].name,
				    is_text(rows->columns[i].kind) ? "TEXT" : "INTEGER");
	sqlite3_str_appendall(text, rows->key);
	return sql__exec_built(db, text);
}

int rundb_rows__prepare(sqlite3 *db, sqlite3_stmt **insert, const struct rundb_rows *rows)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendf(text, "INSERT OR REPLACE INTO %s VALUES(?", rows->name);
	for (unsigned int i = 1; i < rows->nr; i++)
		sqlite3_str_appendall(text, ", ?");
	sqlite3_str_appendall(text, ")");
	return sql__prepare_built(db, insert, text);
}

static int bind_field(sqlite3_stmt *insert, int index, enum rundb_kind kind, const void *field)
{
	char text[SPLIT_TEXT];

	switch (kind) {
	case RUNDB_FLAG:
		return sqlite3_bind_int64(insert, index, *(const bool *)field);
	case RUNDB_SPLITS:
		split__list(*(const uint32_t *)field, text);
		return sqlite3_bind_text(insert, index, text, -1, SQLITE_TRANSIENT);
	case RUNDB_ADDRESS:
		snprintf(text, sizeof(text), "%" PRIx64, *(const uint64_t *)field);
		return sqlite3_bind_text(insert, index, text, -1, SQLITE_TRANSIENT);
	case RUNDB_OPTIONAL:
		if (!*(const char *)field)
			return sqlite3_bind_null(insert, index);
		/* fall through */
	case RUNDB_TEXT:
		return sqlite3_bind_text(insert, index, field, -1, SQLITE_STATIC);
	case RUNDB_POINTER:
		return sqlite3_bind_text(insert, index, *(const char *const *)field, -1,
					 SQLITE_STATIC);
	default:
		return sqlite3_bind_int64(insert, index, *(const int64_t *)field);
	}
}

int rundb_rows__write(sqlite3_stmt *insert, const struct rundb_rows *rows,
		      const void *const parts[])
{
	int failed = sqlite3_clear_bindings(insert), err;

	for (unsigned int i = 0; !failed && i < rows->nr; i++) {
		const struct rundb_column *column = &rows->columns[i];
		const char *part = parts[column->part];

		if (part)
			failed =
				bind_field(insert, (int)i + 1, column->kind, part + column->offset);
	}
	err = failed ? sql__error(sqlite3_db_handle(insert)) : sql__step(insert);
	sqlite3_reset(insert);
	return err;
}

/* A statement that reads a column which the table lacks cannot be prepared. */
static bool has_column(sqlite3 *db, const char *table, const char *column)
{
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_stmt *row = NULL;
	int err;

	sqlite3_str_appendf(text, "SELECT %s FROM %s", column, table);
	err = sql__prepare_built(db, &row, text);
	sqlite3_finalize(row);
	return !err;
}

static const char *choose(bool is_first, const char *first, const char *name)
{
	return is_first && first ? first : name;
}

int rundb_rows__select(sqlite3 *db, sqlite3_stmt **row, const struct rundb_rows *rows,
		       const char *parameter)
{
	sqlite3_str *text;
	int64_t version = 0;
	const char *table;
	int err = sql__number(db, "PRAGMA user_version", &version);

	*row = NULL;
	if (err)
		return err;
	table = choose(version == RUNDB_FIRST, rows->first_name, rows->name);
	text = sqlite3_str_new(db);
	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct rundb_column *column = &rows->columns[i];
		const char *name = choose(version == RUNDB_FIRST, column->first, column->name);

		if (!*name || (column->later && !has_column(db, table, name)))
			name = is_text(column->kind) ? "''" : "0";
		sqlite3_str_appendf(text, "%s%s", i ? ", " : "SELECT ", name);
	}
	sqlite3_str_appendf(text, " FROM %s %s", table,
			    choose(version == RUNDB_FIRST, rows->first_which, rows->which));
	err = sql__prepare_built(db, row, text);
	if (!err && parameter)
		sqlite3_bind_text(*row, 1, parameter, -1, SQLITE_STATIC);
	return err;
}

int rundb_row__number(sqlite3_stmt *row, int column, uint64_t *value)
{
	int64_t number = sqlite3_column_int64(row, column);

	if (sqlite3_column_type(row, column) != SQLITE_INTEGER || number < 0)
		return -EUCLEAN;
	*value = (uint64_t)number;
	return 0;
}

void rundb_row__text(sqlite3_stmt *row, int column, char *text, size_t size)
{
	const char *value = (const char *)sqlite3_column_text(row, column);

	sanitize__text(text, size, value ? value : "");
}

static int read_splits(sqlite3_stmt *row, int column, uint32_t *mask)
{
	char list[SPLIT_TEXT];

	rundb_row__text(row, column, list, sizeof(list));
	return *list && split__parse(list, mask) ? -EUCLEAN : 0;
}

static int read_pointer(sqlite3_stmt *row, int column, size_t size, char **text)
{
	*text = malloc(size);
	if (!*text)
		return -ENOMEM;
	rundb_row__text(row, column, *text, size);
	return 0;
}

static int read_address(sqlite3_stmt *row, int column, uint64_t *address)
{
	const char *digits = (const char *)sqlite3_column_text(row, column);

	return digits && frames__next(&digits, address) ? 0 : -EUCLEAN;
}

int rundb_row__field(sqlite3_stmt *row, int index, const struct rundb_column *column, void *part)
{
	void *field = (char *)part + column->offset;
	uint64_t number = 0;
	int err;

	switch (column->kind) {
	case RUNDB_SPLITS:
		return read_splits(row, index, field);
	case RUNDB_ADDRESS:
		return read_address(row, index, field);
	case RUNDB_OPTIONAL:
	case RUNDB_TEXT:
		rundb_row__text(row, index, field, column->size);
		return 0;
	case RUNDB_POINTER:
		return read_pointer(row, index, column->most, field);
	case RUNDB_SIGNED:
		*(int64_t *)field = sqlite3_column_int64(row, index);
		return 0;
	case RUNDB_FLAG:
		err = rundb_row__number(row, index, &number);
		*(bool *)field = number;
		return err;
	case RUNDB_LIMIT:
		if (sqlite3_column_type(row, index) == SQLITE_INTEGER &&
		    sqlite3_column_int64(row, index) == -1) {
			*(uint64_t *)field = UINT64_MAX;
			return 0;
		}
		return rundb_row__number(row, index, field);
	default:
		return rundb_row__number(row, index, field);
	}
}

int rundb_rows__read(sqlite3_stmt *row, const struct rundb_rows *rows, void *const parts[])
{
	unsigned int seen = 0, there = 0;
	int err = 0;

	for (unsigned int i = 0; i < rows->nr; i++)
		memset((char *)parts[rows->columns[i].part] + rows->columns[i].offset, 0,
		       rows->columns[i].size);
	for (unsigned int i = 0; !err && i < rows->nr; i++) {
		const struct rundb_column *column = &rows->columns[i];
		unsigned int part = 1U << column->part;

		if (!(seen & part) && sqlite3_column_type(row, (int)i) != SQLITE_NULL)
			there |= part;
		seen |= part;
		if (there & part)
			err = rundb_row__field(row, (int)i, column, parts[column->part]);
	}
	if (!err && (there & rows->needed) != rows->needed)
		err = -EUCLEAN;
	return err ? err : (int)there;
}

void rundb_rows__forget(const struct rundb_rows *rows, void *const parts[])
{
	for (unsigned int i = 0; i < rows->nr; i++)
		if (rows->columns[i].kind == RUNDB_POINTER)
			free(*(char **)((char *)parts[rows->columns[i].part] +
					rows->columns[i].offset));
}
