// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_account.h"

#include <errno.h>
#include <stdio.h>

#include <core/sanitize.h>

#include "sql.h"

/* A sum that could not be checked has no numbers. No limit, UINT64_MAX, is -1. */
static int write_sum(sqlite3_stmt *insert, int64_t probe, const struct run_check *check,
		     const char *name, const struct run_checked *sum)
{
	return sql__run(insert, sum->known ? "itttiiiii" : "ittt", probe, name, check->source,
			check->why, (int64_t)sum->ours_low, (int64_t)sum->ours_high,
			(int64_t)sum->kernel_low, (int64_t)sum->kernel_high,
			(int64_t)sum->tolerance);
}

static int write_sums(sqlite3 *db, int64_t probe, const struct run_check *check)
{
	sqlite3_stmt *insert;
	int err;

	err = sql__prepare(db, &insert,
			   "INSERT INTO kernel_check VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
	if (err)
		return err;
	err = write_sum(insert, probe, check, "events", &check->events);
	sqlite3_clear_bindings(insert);
	if (!err)
		err = write_sum(insert, probe, check, "time", &check->time);
	sqlite3_finalize(insert);
	return err;
}

int rundb_account__write(sqlite3 *db, int64_t probe, const struct run_probe *from)
{
	sqlite3_stmt *update;
	int err;

	if (from->check.source[0]) {
		err = write_sums(db, probe, &from->check);
		if (err)
			return err;
	}
	err = sql__prepare(db, &update,
			   "UPDATE module SET open_sum_ns=?, open_before=? WHERE id=?");
	if (err)
		return err;
	err = sql__run(update, "iii", (int64_t)from->open.sum_ns, (int64_t)from->open.before,
		       probe);
	sqlite3_finalize(update);
	return err;
}

static void take_text(sqlite3_stmt *row, int column, char *text, size_t size)
{
	const char *value = (const char *)sqlite3_column_text(row, column);

	sanitize__text(text, size, value ? value : "");
}

static int take_sum(sqlite3_stmt *row, struct run_check *check)
{
	const char *name = (const char *)sqlite3_column_text(row, 0);
	struct run_checked *sum = name && name[0] == 't' ? &check->time : &check->events;
	uint64_t *const numbers[] = { &sum->ours_low, &sum->ours_high, &sum->kernel_low,
				      &sum->kernel_high, &sum->tolerance };
	int64_t number;

	take_text(row, 1, check->source, sizeof(check->source));
	take_text(row, 2, check->why, sizeof(check->why));
	if (sqlite3_column_type(row, 3) == SQLITE_NULL)
		return 0;
	for (int i = 0; i < 5; i++) {
		number = sqlite3_column_int64(row, 3 + i);
		if (sqlite3_column_type(row, 3 + i) != SQLITE_INTEGER)
			return -EUCLEAN;
		if (number < 0 && (number != -1 || numbers[i] != &sum->ours_high))
			return -EUCLEAN;
		*numbers[i] = (uint64_t)number;
	}
	sum->known = true;
	return 0;
}

static int has(sqlite3 *db, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(db, NULL, table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

static int read_sums(sqlite3 *db, int64_t probe, struct run_check *check)
{
	sqlite3_stmt *row;
	int err;

	err = sql__prepare(db, &row,
			   "SELECT sum, source, why, ours_low, ours_high, kernel_low, kernel_high,"
			   " tolerance FROM kernel_check WHERE module = ?");
	if (err)
		return err;
	sqlite3_bind_int64(row, 1, probe);
	while ((err = sql__step(row)) > 0) {
		err = take_sum(row, check);
		if (err)
			break;
	}
	sqlite3_finalize(row);
	return err;
}

/* A column of a module; it stays 0 in recordings of versions that had none of that name. */
static int read_number(sqlite3 *db, int64_t probe, const char *column, __u64 *number)
{
	char query[128];
	sqlite3_stmt *row;
	int err;

	if (!has(db, "module", column))
		return 0;
	snprintf(query, sizeof(query), "SELECT %s FROM module WHERE id = ?", column);
	err = sql__prepare(db, &row, query);
	if (err)
		return err;
	sqlite3_bind_int64(row, 1, probe);
	err = sql__step(row);
	if (err > 0 && sqlite3_column_int64(row, 0) < 0)
		err = -EUCLEAN;
	if (err > 0)
		*number = (uint64_t)sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return err < 0 ? err : 0;
}

static int read_open(sqlite3 *db, int64_t probe, struct lat_open *open)
{
	int err;

	err = read_number(db, probe, "open_sum_ns", &open->sum_ns);
	if (!err)
		err = read_number(db, probe, "open_before", &open->before);
	return !err && open->before > open->count ? -EUCLEAN : err;
}

int rundb_account__read(sqlite3 *db, int64_t probe, struct run_probe *to)
{
	int err = 0;

	if (has(db, "kernel_check", NULL))
		err = read_sums(db, probe, &to->check);
	if (!err)
		err = read_open(db, probe, &to->open);
	return err;
}
