// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_internal.h"

#include <errno.h>

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
		err = rundb_table__top_k(db, span, name, declared, table, each, probe->why);
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
	err = why__new(&probe->why, probe->name) ?:
	      read_why_table(db, span, probe, 1, sum) ?:
	      read_why_table(db, span, probe, 2, keep_slowest);
	if (!err)
		guess_totals(probe->why);
	return err == -EINVAL ? -EUCLEAN : err;
}
