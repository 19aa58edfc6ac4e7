// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>

#include "rundb_rows.h"
#include "sql.h"

#define MIDDLE "start_ns + (end_ns - start_ns) / 2"

struct finding {
	struct rundb_span *span;
	struct run *run;
};

/* A row is an interval of the span. */
static int take_interval(sqlite3_stmt *row, void *to)
{
	struct rundb_span *span = ((struct finding *)to)->span;
	struct run *run = ((struct finding *)to)->run;
	uint64_t start_ns, end_ns;

	if (rundb_row__number(row, 1, &start_ns) || rundb_row__number(row, 2, &end_ns) ||
	    end_ns < start_ns)
		return -EUCLEAN;
	span->last = sqlite3_column_int64(row, 0);
	if (!run->span_to_ns) {
		span->first = span->last;
		run->span_from_ns = start_ns;
	}
	if (end_ns < run->span_to_ns || !end_ns)
		return -EUCLEAN;
	run->span_to_ns = end_ns;
	run->duration_ns = end_ns - run->span_from_ns;
	return 0;
}

int rundb_span__find(sqlite3 *db, struct rundb_span *span, struct run *run)
{
	sqlite3_stmt *row;
	int err;

	if (!span->is_set)
		return 0;
	err = sql__prepare(db, &row,
			   "SELECT id, start_ns, end_ns FROM interval"
			   " WHERE " MIDDLE " >= ? AND " MIDDLE " < ? ORDER BY id");
	if (err)
		return err;
	/* SQLite has no larger numbers. */
	sqlite3_bind_int64(row, 1,
			   (int64_t)(span->from_ns < INT64_MAX ? span->from_ns : INT64_MAX));
	sqlite3_bind_int64(row, 2, (int64_t)(span->to_ns < INT64_MAX ? span->to_ns : INT64_MAX));
	err = sql__finish(0, row, take_interval, &(struct finding){ span, run });
	return err || run->span_to_ns ? err : -ENODATA;
}

int rundb_span__prepare(sqlite3 *db, const struct rundb_span *span, sqlite3_stmt **statement,
			const char *select, const char *column, const char *order)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendall(text, select);
	if (span->is_set)
		sqlite3_str_appendf(text, " WHERE %s BETWEEN %lld AND %lld", column, span->first,
				    span->last);
	sqlite3_str_appendall(text, order);
	return sql__prepare_built(db, statement, text);
}

void rundb_span__forget(struct run_probe *probe)
{
	probe->recursion_missed = probe->no_event = 0;
	probe->in_flight = (struct lat_in_flight){ 0 };
	probe->in_flight_age_known = false;
	probe->in_flight_of[0] = '\0';
	if (probe->why)
		*probe->why = (struct run_why){ 0 };
}
