// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rundb_internal.h"
#include "rundb_table.h"
#include "rundb_version.h"
#include "sql.h"

int rundb_why__totals(struct run_probe *probe, sqlite3_stmt *row, int column)
{
	struct run_why *why;
	int err;

	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return 0;
	why = probe->why = calloc(1, sizeof(*why));
	if (!why)
		return -ENOMEM;
	err = rundb_row__number(row, column, &why->slow);
	if (!err)
		err = rundb_row__number(row, column + 1, &why->slow_ns);
	if (!err)
		err = rundb_row__number(row, column + 2, &why->sent);
	if (!err)
		err = rundb_row__number(row, column + 3, &why->dropped);
	if (!err)
		err = rundb_row__number(row, column + 4, &why->over_low_ns);
	if (!err)
		err = rundb_row__number(row, column + 5, &why->over_high_ns);
	if (!err)
		err = rundb_row__flag(row, column + 7, &why->few);
	if (!err)
		err = rundb_row__number(row, column + 8, &why->own);
	rundb_row__text(row, column + 10, why->disks, sizeof(why->disks));
	return err ? err : rundb_row__number(row, column + 9, &why->own_ns);
}

/* Are all columns of a file there? Older versions had fewer. */
static bool has_columns(const struct table *table, const struct table *of_file)
{
	for (unsigned int i = 0; i < table__columns(of_file); i++) {
		const struct table_column *wanted = table__column(of_file, i), *found;
		int at = table__find_column(table, wanted->name);

		if (at < 0)
			return false;
		found = table__column(table, (unsigned int)at);
		if (found->kind != wanted->kind || found->key != wanted->key)
			return false;
	}
	return true;
}

static int read_why_table(sqlite3 *db, const struct rundb_span *span, const struct run_probe *probe,
			  unsigned int which, int (*each)(void *why))
{
	struct table *declared, *table;
	char name[RUN_NAME];
	int err;

	table = run__table(probe, which, name);
	err = rundb_table__load(db, name, &declared);
	if (!err && (!declared || !has_columns(table, declared)))
		err = -EUCLEAN;
	if (!err)
		err = rundb_table__top_k(db, span, name, table, each, probe->why);
	table__free(declared);
	return err;
}

static int sum(void *why)
{
	return why__sum(why);
}

static int keep_slowest(void *why)
{
	why__keep_slowest(why);
	return 0;
}

/* Sums of the table, for a recording that was cut off: then the totals are missing. */
static void guess_totals(struct run_why *why)
{
	if (why->slow_ns)
		return;
	for (unsigned int part = 0; part < WHY_PARTS; part++)
		why->slow_ns += why->part_ns[part];
	for (size_t key = 0; key < table__keys(why->parts); key++) {
		const struct table_aggregate *over = table__aggregate(why->parts, key, WHY_OVER_NS);

		if (!why->over_low_ns || over->low < (double)why->over_low_ns)
			why->over_low_ns = (uint64_t)over->low;
		if (over->high > (double)why->over_high_ns)
			why->over_high_ns = (uint64_t)over->high;
	}
}

int rundb_why__read(sqlite3 *db, const struct rundb_span *span, struct run_probe *probe)
{
	struct table *declared;
	char name[RUN_NAME];
	int err;

	run__table(probe, 1, name);
	err = rundb_table__load(db, name, &declared);
	table__free(declared);
	if (err || !declared) {
		why__free(probe->why);
		probe->why = NULL;
		return err;
	}
	err = why__new(&probe->why, probe->name);
	if (!err)
		err = read_why_table(db, span, probe, 1, sum);
	if (!err)
		err = read_why_table(db, span, probe, 2, keep_slowest);
	if (!err)
		guess_totals(probe->why);
	return err == -EINVAL ? -EUCLEAN : err;
}

int rundb_why__write_frames(sqlite3 *db, const struct run *run)
{
	sqlite3_stmt *insert;
	char address[24];
	int err;

	err = sql__prepare(db, &insert, "INSERT INTO frame VALUES(?, ?, ?, ?, ?)");
	if (err)
		return err;
	for (size_t i = 0; !err && i < run->frames.nr; i++) {
		const struct frame *frame = &run->frames.frames[i];

		snprintf(address, sizeof(address), "%" PRIx64, frame->address);
		err = sql__run(insert, "ittti", (int64_t)frame->pid, address, frame->name,
			       frame->place, (int64_t)frame->truncated);
	}
	sqlite3_finalize(insert);
	return err;
}

static int take_frame(sqlite3_stmt *row, struct run *run)
{
	char address[24], name[FRAME_TEXT], place[FRAME_TEXT];
	struct frame frame = { .name = name, .place = place };
	const char *at = address;

	rundb_row__text(row, 1, address, sizeof(address));
	rundb_row__text(row, 2, name, sizeof(name));
	rundb_row__text(row, 3, place, sizeof(place));
	if (rundb_row__number(row, 0, &frame.pid) || !frames__next(&at, &frame.address) ||
	    rundb_row__flag(row, 4, &frame.truncated))
		return -EUCLEAN;
	return frames__add(&run->frames, &frame);
}

int rundb_why__read_frames(sqlite3 *db, struct run *run)
{
	sqlite3_stmt *row;
	int err;

	err = rundb_version__prepare(db, &row, RUNDB_SELECT_FRAMES);
	while (!err && (err = sql__step(row)) > 0)
		err = take_frame(row, run);
	sqlite3_finalize(row);
	frames__sort(&run->frames);
	return err;
}
