// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_version.h"

#include <errno.h>
#include <stddef.h>

#include <core/run.h>

#include "sql.h"

#define FIRST 1 /* latscope 0.1 */
#define SUMS "ours_low, ours_high, kernel_low, kernel_high, tolerance FROM kernel_check"
#define OF_LATER(name) "(SELECT " name " FROM probe AS own WHERE own.id = probe.id)"

static const char *const statements[RUN_SCHEMA + 1][RUNDB_SELECTS] = {
	[FIRST] = {
		[RUNDB_SELECT_PROBES] =
			"SELECT id, name, method, mechanism, refused, split, open_count,"
			" open_oldest_ns, recursion_missed, cost_runs, cost_run_ns, cost_timed_ns,"
			" cost_timed_events, open_sum_ns, open_before, 0, 0, 0, 0, 0, 0,"
			" (SELECT value FROM meta WHERE name = 'tail_ns'), 0, 0, 0, NULL, 0, ''"
			" FROM module ORDER BY id",
		[RUNDB_SELECT_METRICS] = "SELECT id, module, name, what FROM metric ORDER BY id",
		[RUNDB_SELECT_CHECKS] = "SELECT sum, source, why, " SUMS " WHERE module = ?",
		[RUNDB_SELECT_COLUMNS] =
			"SELECT name, unit, what, kind, is_key, NULL, NULL, 0 FROM table_column"
			" WHERE module = (SELECT id FROM module WHERE name = ?) ORDER BY position",
		[RUNDB_SELECT_FRAMES] = "SELECT 0, 0, 0, 0, 0 FROM meta WHERE 0",
	},
	/*
	 * The first recordings of version 3 have no probe.tail_ns, but one threshold in meta, and
	 * say nothing of few samples or of latscope's own. Where the inner table has no such
	 * column, SQL takes the name from the outer statement.
	 */
	[RUN_SCHEMA] = {
		[RUNDB_SELECT_PROBES] =
			"SELECT id, name, method, mechanism, refused, split, in_flight_count,"
			" in_flight_oldest_ns, recursion_missed, cost_runs, cost_run_ns,"
			" cost_timed_ns, cost_timed_events, in_flight_sum_ns, in_flight_before,"
			" why_slow, why_slow_ns, why_sent, why_dropped, why_over_low_ns,"
			" why_over_high_ns, "
			OF_LATER("tail_ns") ", " OF_LATER("why_few") ", " OF_LATER("why_own") ", "
			OF_LATER("why_own_ns") ", " OF_LATER("why_disks") ", "
			OF_LATER("no_event") ", " OF_LATER("in_flight_of") " FROM probe,"
			" (SELECT (SELECT value FROM meta WHERE name = 'tail_ns') AS tail_ns,"
			" 0 AS why_few, 0 AS why_own, 0 AS why_own_ns, NULL AS why_disks,"
			" 0 AS no_event, '' AS in_flight_of)"
			" ORDER BY id",
		[RUNDB_SELECT_METRICS] = "SELECT id, probe, name, what FROM metric ORDER BY id",
		[RUNDB_SELECT_CHECKS] = "SELECT sum, source, why, " SUMS " WHERE probe = ?",
		[RUNDB_SELECT_COLUMNS] =
			"SELECT name, unit, what, kind, is_key, mean_of, mean_per, mean_scale"
			" FROM table_column WHERE of_table = ? ORDER BY position",
		[RUNDB_SELECT_FRAMES] = "SELECT pid, address, name, place, truncated FROM frame",
	},
};

static int read_version(sqlite3 *db, int64_t *version)
{
	sqlite3_stmt *row;
	int err;

	*version = 0;
	err = sql__prepare(db, &row, "PRAGMA user_version");
	if (err)
		return err;
	err = sql__step(row);
	if (err > 0)
		*version = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	if (err < 0)
		return err;
	return *version < FIRST || *version > RUN_SCHEMA || !statements[*version][0]
		       ? -EPROTONOSUPPORT
		       : 0;
}

int rundb_version__check(sqlite3 *db)
{
	int64_t version;

	return read_version(db, &version);
}

int rundb_version__prepare(sqlite3 *db, sqlite3_stmt **row, enum rundb_select select)
{
	int64_t version;
	int err = read_version(db, &version);

	*row = NULL;
	return err ? err : sql__prepare(db, row, statements[version][select]);
}
