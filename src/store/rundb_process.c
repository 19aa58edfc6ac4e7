// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>

#include <core/vec.h>

#include "sql.h"

int rundb_process__write(sqlite3 *db, const struct run *run)
{
	sqlite3_stmt *insert;
	int err;

	err = sql__prepare(db, &insert, "INSERT OR REPLACE INTO process VALUES(?, ?, ?, ?)");
	if (err)
		return err;
	for (size_t i = 0; !err && i < run->nr_lives; i++)
		err = sql__run(insert, "iiii", (int64_t)run->lives[i].id,
			       (int64_t)run->lives[i].lived_ns, (int64_t)run->lives[i].thread_ns,
			       (int64_t)run->lives[i].ended);
	sqlite3_finalize(insert);
	return err;
}

static int take_process(sqlite3_stmt *row, struct run *run)
{
	struct run_life *grown = vec__grow(run->lives, run->nr_lives, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	run->lives = grown;
	grown += run->nr_lives++;
	if (rundb_row__number(row, 0, &grown->id) || rundb_row__number(row, 1, &grown->lived_ns) ||
	    rundb_row__number(row, 2, &grown->thread_ns) || rundb_row__flag(row, 3, &grown->ended))
		return -EUCLEAN;
	return 0;
}

int rundb_process__read(sqlite3 *db, struct run *run)
{
	sqlite3_stmt *row;
	int err;

	err = sql__prepare(db, &row,
			   "SELECT id, lived_ns, thread_ns, ended FROM process ORDER BY id");
	while (!err && (err = sql__step(row)) > 0)
		err = take_process(row, run);
	sqlite3_finalize(row);
	return err;
}
