// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_check.h"

#include "sql.h"

int rundb_check__write(sqlite3 *db, int64_t module, const struct run_module *from)
{
	sqlite3_stmt *update;
	int err;

	err = sql__prepare(db, &update, "UPDATE module SET open_sum_ns=? WHERE id=?");
	if (err)
		return err;
	err = sql__run(update, "ii", (int64_t)from->open.sum_ns, module);
	sqlite3_finalize(update);
	return err;
}

static int has(sqlite3 *db, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(db, NULL, table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

static int read_open(sqlite3 *db, int64_t module, struct lat_open *open)
{
	sqlite3_stmt *row;
	int err;

	err = sql__prepare(db, &row, "SELECT open_sum_ns FROM module WHERE id = ?");
	if (err)
		return err;
	sqlite3_bind_int64(row, 1, module);
	err = sql__step(row);
	if (err > 0)
		open->sum_ns = (uint64_t)sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return err < 0 ? err : 0;
}

int rundb_check__read(sqlite3 *db, int64_t module, struct run_module *to)
{
	return has(db, "module", "open_sum_ns") ? read_open(db, module, &to->open) : 0;
}
