// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>

#include "rundb_version.h"
#include "sql.h"

/* A sum that could not be checked has no numbers. UINT64_MAX, no limit, is stored as -1. */
static int write_sum(sqlite3_stmt *insert, int64_t probe, const struct run_check *check,
		     const char *name, const struct run_checked *sum)
{
	return sql__run(insert, sum->known ? "itttiiiii" : "ittt", probe, name, check->source,
			check->why, (int64_t)sum->ours_low, (int64_t)sum->ours_high,
			(int64_t)sum->kernel_low, (int64_t)sum->kernel_high,
			(int64_t)sum->tolerance);
}

int rundb_account__write(sqlite3 *db, int64_t probe, const struct run_check *check)
{
	sqlite3_stmt *insert;
	int err;

	if (!check->source[0])
		return 0;
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

static int take_sum(sqlite3_stmt *row, struct run_check *check)
{
	const char *name = (const char *)sqlite3_column_text(row, 0);
	struct run_checked *sum = name && name[0] == 't' ? &check->time : &check->events;
	uint64_t *const numbers[] = { &sum->ours_low, &sum->ours_high, &sum->kernel_low,
				      &sum->kernel_high, &sum->tolerance };
	int64_t number;

	rundb_row__text(row, 1, check->source, sizeof(check->source));
	rundb_row__text(row, 2, check->why, sizeof(check->why));
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

int rundb_account__read(sqlite3 *db, int64_t probe, struct run_check *check)
{
	sqlite3_stmt *row;
	int err;

	err = rundb_version__prepare(db, &row, RUNDB_SELECT_CHECKS);
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
