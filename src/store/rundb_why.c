// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rundb_internal.h"
#include "rundb_table.h"

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
	return err ? err : rundb_row__number(row, column + 5, &why->over_high_ns);
}

static bool same_columns(const struct table *a, const struct table *b)
{
	bool same = table__columns(a) == table__columns(b);

	for (unsigned int i = 0; same && i < table__columns(a); i++)
		same = !strcmp(table__column(a, i)->name, table__column(b, i)->name) &&
		       table__column(a, i)->kind == table__column(b, i)->kind &&
		       table__column(a, i)->key == table__column(b, i)->key;
	return same;
}

static int read_why_table(sqlite3 *db, const struct run_probe *probe, unsigned int which,
			  void (*each)(void *why))
{
	struct table *declared, *table;
	char name[RUN_NAME];
	int err;

	table = run__table(probe, which, name);
	err = rundb_table__load(db, name, &declared);
	if (!err && (!declared || !same_columns(declared, table)))
		err = -EUCLEAN;
	if (!err)
		err = rundb_table__top_k(db, name, table, each, probe->why);
	table__free(declared);
	return err;
}

static void keep_slowest(void *why)
{
	why__keep_slowest(why);
}

/* Sums of the table, for a recording that was cut off: then the totals are missing. */
static void guess_totals(struct run_why *why)
{
	if (why->slow_ns)
		return;
	for (size_t key = 0; key < table__keys(why->parts); key++) {
		const struct table_aggregate *over = table__aggregate(why->parts, key, WHY_OVER_NS);

		why->slow_ns += (uint64_t)table__aggregate(why->parts, key, WHY_NS)->sum;
		if (!why->over_low_ns || over->low < (double)why->over_low_ns)
			why->over_low_ns = (uint64_t)over->low;
		if (over->high > (double)why->over_high_ns)
			why->over_high_ns = (uint64_t)over->high;
	}
}

int rundb_why__read(sqlite3 *db, struct run_probe *probe)
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
		err = read_why_table(db, probe, 1, NULL);
	if (!err)
		err = read_why_table(db, probe, 2, keep_slowest);
	if (!err)
		guess_totals(probe->why);
	return err == -EINVAL ? -EUCLEAN : err;
}
