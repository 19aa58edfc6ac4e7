// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/run.h>

#include "rundb_rows.h"
#include "sql.h"

#define MOST_REAL 1e100 /* keeps sums and their squares finite */
#define AT_ONCE 1024 /* rows in memory while all rows are added up */

static const char *const kinds[TABLE_KINDS] = {
	[TABLE_INTEGER] = "INTEGER",
	[TABLE_REAL] = "REAL",
	[TABLE_TEXT] = "TEXT",
};

static int declare(sqlite3 *db, const char *name, const struct table *table)
{
	sqlite3_stmt *insert = NULL;
	int err = rundb_rows__prepare(db, &insert, &rundb_columns);

	for (unsigned int i = 0; !err && i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);
		const struct rundb_declared declared = { name, i, kinds[column->kind] };

		err = rundb_rows__write(insert, &rundb_columns,
					(const void *[]){ &declared, column });
	}
	sqlite3_finalize(insert);
	return err;
}

int rundb_table__create(sqlite3 *db, const char *name, const struct table *table)
{
	sqlite3_str *text = sqlite3_str_new(db);
	int err;

	sqlite3_str_appendf(text, "CREATE TABLE \"%w\"(interval INTEGER, time_ns INTEGER", name);
	for (unsigned int i = 0; i < table__columns(table); i++)
		sqlite3_str_appendf(text, ", \"%w\" %s", table__column(table, i)->name,
				    kinds[table__column(table, i)->kind]);
	/* For readers of single intervals: a recording may have millions of rows. */
	sqlite3_str_appendf(text, "); CREATE INDEX \"%w_interval\" ON \"%w\"(interval)", name,
			    name);
	err = sql__exec_built(db, text);
	return err ? err : declare(db, name, table);
}

int rundb_table__prepare(sqlite3 *db, sqlite3_stmt **insert, const char *name,
			 const struct table *table)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES(?, ?", name);
	for (unsigned int i = 0; i < table__columns(table); i++)
		sqlite3_str_appendall(text, ", ?");
	sqlite3_str_appendall(text, ")");
	return sql__prepare_built(db, insert, text);
}

static int bind_value(sqlite3_stmt *insert, int index, const struct table_value *value)
{
	if (!value->known)
		return sqlite3_bind_null(insert, index);
	switch (value->kind) {
	case TABLE_INTEGER:
		return sqlite3_bind_int64(insert, index, value->integer);
	case TABLE_REAL:
		return sqlite3_bind_double(insert, index, value->real);
	default:
		return sqlite3_bind_text(insert, index, value->text, -1, SQLITE_STATIC);
	}
}

static int insert_row(sqlite3_stmt *insert, int64_t interval, uint64_t start_ns,
		      const struct table *table, size_t row)
{
	uint64_t at = table__time_ns(table, row);
	int failed, err;

	failed = sqlite3_bind_int64(insert, 1, interval);
	if (!failed)
		failed =
			sqlite3_bind_int64(insert, 2, at > start_ns ? (int64_t)(at - start_ns) : 0);
	for (unsigned int i = 0; !failed && i < table__columns(table); i++) {
		struct table_value value = table__value(table, row, i);

		failed = bind_value(insert, (int)i + 3, &value);
	}
	err = failed ? sql__error(sqlite3_db_handle(insert)) : sql__step(insert);
	sqlite3_reset(insert);
	return err;
}

int rundb_table__insert(sqlite3_stmt *insert, int64_t interval, uint64_t start_ns,
			const struct table *table)
{
	int err = 0;

	for (size_t row = 0; !err && row < table__rows(table); row++)
		err = insert_row(insert, interval, start_ns, table, row);
	return err;
}

static int find_kind(const char *name)
{
	for (int i = 0; i < TABLE_KINDS; i++) {
		if (!strcmp(name, kinds[i]))
			return i;
	}
	return -EUCLEAN;
}

/* Owns the texts of the columns until the table has copies. */
struct declared {
	struct table_column columns[TABLE_COLUMNS];
	unsigned int nr;
};

static int take_column(sqlite3_stmt *row, void *to)
{
	struct rundb_declared place;
	struct table_column column;
	struct declared *declared = to;
	void *const parts[] = { &place, &column };
	int err, kind;

	if (declared->nr == TABLE_COLUMNS)
		return -EUCLEAN;
	memset(&column, 0, sizeof(column));
	err = rundb_rows__read(row, &rundb_columns, parts);
	kind = err < 0 ? err : find_kind(place.kind);
	if (kind < 0) {
		rundb_rows__forget(&rundb_columns, parts);
		return kind;
	}
	column.kind = (enum table_kind)kind;
	free((char *)place.table);
	free((char *)place.kind);
	declared->columns[declared->nr++] = column;
	return 0;
}

int rundb_table__load(sqlite3 *db, const char *name, struct table **table)
{
	struct rundb_declared none = { 0 };
	struct declared *declared;
	sqlite3_stmt *row;
	int err;

	*table = NULL;
	declared = calloc(1, sizeof(*declared));
	if (!declared)
		return -ENOMEM;
	err = rundb_rows__select(db, &row, &rundb_columns, name);
	err = sql__finish(err, row, take_column, declared);
	if (!err && declared->nr)
		err = table__new(table, declared->columns, declared->nr);
	while (declared->nr--)
		rundb_rows__forget(&rundb_columns,
				   (void *[]){ &none, &declared->columns[declared->nr] });
	free(declared);
	return err == -EINVAL ? -EUCLEAN : err; /* a name that latscope does not write */
}

/* Columns that the file does not declare are unknown. */
static int select_rows(sqlite3 *db, sqlite3_stmt **select, const char *name,
		       const struct table *declared, const struct table *table, const char *where)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendall(text, "SELECT time_ns");
	for (unsigned int i = 0; i < table__columns(table); i++)
		if (table__find_column(declared, table__column(table, i)->name) >= 0)
			sqlite3_str_appendf(text, ", \"%w\"", table__column(table, i)->name);
		else
			sqlite3_str_appendall(text, ", NULL");
	sqlite3_str_appendf(text, " FROM \"%w\" %s ORDER BY rowid", name, where);
	return sql__prepare_built(db, select, text);
}

static int take_value(sqlite3_stmt *row, int index, struct table *table, unsigned int column)
{
	enum table_kind kind = table__column(table, column)->kind;
	int type = sqlite3_column_type(row, index);
	char text[RUN_TEXT * 4];

	if (type == SQLITE_NULL)
		return 0;
	if (kind == TABLE_TEXT) {
		rundb_row__text(row, index, text, sizeof(text));
		return table__set_text(table, column, text);
	}
	if (type != (kind == TABLE_REAL ? SQLITE_FLOAT : SQLITE_INTEGER))
		return -EUCLEAN;
	if (kind == TABLE_REAL && !(fabs(sqlite3_column_double(row, index)) <= MOST_REAL))
		return -EUCLEAN;
	if (kind == TABLE_REAL)
		table__set_real(table, column, sqlite3_column_double(row, index));
	else
		table__set_integer(table, column, sqlite3_column_int64(row, index));
	return 0;
}

static int take_row(sqlite3_stmt *row, void *to)
{
	struct table *table = to;
	int64_t time_ns = sqlite3_column_int64(row, 0);
	int err;

	if (sqlite3_column_type(row, 0) != SQLITE_INTEGER || time_ns < 0)
		return -EUCLEAN;
	err = table__add_row(table, (uint64_t)time_ns);
	if (err == -EINVAL) /* rows are written in order of time */
		return -EUCLEAN;
	for (unsigned int i = 0; !err && i < table__columns(table); i++)
		err = take_value(row, (int)i + 1, table, i);
	return err;
}

/* All rows are added up, AT_ONCE at a time. */
struct adding {
	struct table *table;
	int (*each)(void *context);
	void *context;
};

static int fold(const struct adding *adding)
{
	int err = adding->each ? adding->each(adding->context) : 0;

	return err ? err : table__fold(adding->table);
}

static int add_row(sqlite3_stmt *row, void *to)
{
	const struct adding *adding = to;
	int err = take_row(row, adding->table);

	return err || table__rows(adding->table) < AT_ONCE ? err : fold(adding);
}

int rundb_table__top_k(sqlite3 *db, const struct rundb_span *span, const char *name,
		       const struct table *declared, struct table *table,
		       int (*each)(void *context), void *context)
{
	struct adding adding = { table, each, context };
	char where[96] = "";
	sqlite3_stmt *row = NULL;
	int err;

	if (span->is_set)
		snprintf(where, sizeof(where), "WHERE interval BETWEEN %" PRId64 " AND %" PRId64,
			 span->first, span->last);
	err = select_rows(db, &row, name, declared, table, where);
	err = sql__finish(err, row, add_row, &adding);
	if (!err)
		err = fold(&adding);
	table__rewind(table);
	return err;
}

int rundb_table__sum(sqlite3 *db, const struct rundb_span *span, const char *name,
		     struct table **table)
{
	int err = rundb_table__load(db, name, table);

	if (err || !*table)
		return err;
	return rundb_table__top_k(db, span, name, *table, *table, NULL, NULL);
}

int rundb_table__select(sqlite3 *db, sqlite3_stmt **select, const char *name,
			const struct table *table)
{
	struct table *declared;
	int err = rundb_table__load(db, name, &declared);

	if (!err && !declared)
		err = -EUCLEAN;
	if (!err)
		err = select_rows(db, select, name, declared, table, "WHERE interval = ?");
	table__free(declared);
	return err;
}

int rundb_table__read(sqlite3_stmt *row, int64_t interval, struct table *table)
{
	int err;

	table__rewind(table);
	sqlite3_bind_int64(row, 1, interval);
	err = sql__each(row, take_row, table);
	sqlite3_reset(row);
	return err;
}

int rundb_table__load_own(sqlite3 *db, const struct rundb_span *span, struct run_probe *probe)
{
	const unsigned int more = RUN_TABLES - RUN_MORE;
	char name[RUN_NAME];
	int err = 0;

	for (unsigned int i = 0; !err && i < RUN_TABLES; i++) {
		struct table **table = i < more ? &probe->table : &probe->more[i - more];

		if (i && i < more) /* those of rundb_why__read() */
			continue;
		run__table(probe, i, name);
		err = rundb_table__sum(db, span, name, table);
	}
	return err;
}
