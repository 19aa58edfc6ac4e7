// SPDX-License-Identifier: BSD-2-Clause
#include "rundb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/counts.h>
#include <core/hist.h>
#include <core/pressure.h>
#include <core/vec.h>

#include "rundb_internal.h"
#include "rundb_rows.h"
#include "rundir.h"
#include "sql.h"

/* Calls take(row, to) for the rows of the intervals in the span. */
static int each_in_span(struct rundb *db, const char *sql, sql_take *take, void *to)
{
	sqlite3_stmt *statement;
	int err = rundb_span__prepare(db->db, &db->span, &statement, sql, "interval", "");

	return sql__finish(err, statement, take, to);
}

static int read_tables(struct rundb *db)
{
	struct run_probe *probe;
	int err = rundb_head__read_ends(db);

	for (unsigned int i = 0; !err && i < db->run->nr_probes; i++) {
		probe = &db->run->probes[i];
		err = rundb_table__load_own(db->db, &db->span, probe);
		if (!err)
			err = rundb_why__read(db->db, &db->span, probe);
	}
	if (!err)
		err = rundb_table__sum(db->db, &db->span, PRESSURE_NAME, &db->run->pressure.table);
	return err;
}

static int compare_ids(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = ((const struct rundb_series *)right)->id;

	return a < b ? -1 : a > b;
}

/* Where the data of each probe goes: into the run's totals, or into an interval's deltas. */
struct target {
	struct rundb *db;
	struct run_data *data[RUN_PROBES];
	bool without_keys;
};

static struct rundb_series *find_series(const struct rundb *db, int64_t id)
{
	if (!db->nr_series)
		return NULL;
	return bsearch(&id, db->series, db->nr_series, sizeof(*db->series), compare_ids);
}

/*
 * The destination of a series, one of the two: the histogram of a whole metric, or that of a key.
 */
struct place {
	struct lat_hist *metric;
	struct sparse *key;
};

static bool find_place(const struct target *target, int64_t id, struct place *place)
{
	const struct rundb_series *series = find_series(target->db, id);
	struct run_data *data = series ? target->data[series->probe] : NULL;

	*place = (struct place){ 0 };
	if (!series || (!series->total && target->without_keys))
		return false;
	if (series->total)
		place->metric = &data->metrics[series->metric].hist;
	/* without keys, intervals have only histograms of metrics */
	else if (series->key < data->nr_keys)
		place->key = &data->keys[series->key].hist;
	return place->metric || place->key;
}

/*
 * Call before a number changes. If it is 0 and part of a delta, its address is saved: clearing all
 * numbers of a delta for every interval would take most of the time.
 */
static int note(struct rundb *db, uint64_t *number)
{
	if (!db->deltas || *number)
		return 0;
	return vec__append(&db->filled, &db->nr_filled, &number, sizeof(number));
}

/* Adds to a number of the totals or of a delta. */
static int add(struct rundb *db, uint64_t *to, uint64_t value)
{
	int err = value ? note(db, to) : 0;

	if (err)
		return err;
	/* No window is long enough for an overflow. */
	return __builtin_add_overflow(*to, value, to) ? -EUCLEAN : 0;
}

static int take_slot(sqlite3_stmt *row, void *to)
{
	struct rundb *db = ((struct target *)to)->db;
	uint64_t slot, count;
	struct place place;
	int err;

	if (!find_place(to, sqlite3_column_int64(row, 0), &place) ||
	    rundb_row__number(row, 1, &slot) || rundb_row__number(row, 2, &count) ||
	    slot >= HIST_SLOTS)
		return -EUCLEAN;
	if (place.metric)
		return add(db, (uint64_t *)&place.metric->slots[slot], count);
	err = note(db, &place.key->nr);
	if (!err)
		err = sparse__add_slot(place.key, (uint32_t)slot, count);
	return err == -EOVERFLOW ? -EUCLEAN : err;
}

/* Adds a row of `sums` to these numbers. */
static int add_sums(struct rundb *db, sqlite3_stmt *row, uint64_t *sum_ns, uint64_t *max_ns,
		    uint64_t *tail)
{
	uint64_t sum, max, of_tail;
	int err;

	if (rundb_row__number(row, 1, &sum) || rundb_row__number(row, 2, &max) ||
	    rundb_row__number(row, 3, &of_tail))
		return -EUCLEAN;
	err = add(db, sum_ns, sum);
	if (!err)
		err = add(db, tail, of_tail);
	return err ? err : add(db, max_ns, max > *max_ns ? max - *max_ns : 0);
}

static int take_sum(sqlite3_stmt *row, void *to)
{
	struct rundb *db = ((struct target *)to)->db;
	struct place place;

	if (!find_place(to, sqlite3_column_int64(row, 0), &place))
		return -EUCLEAN;
	if (place.key)
		return add_sums(db, row, &place.key->sum_ns, &place.key->max_ns, &place.key->tail);
	return add_sums(db, row, (uint64_t *)&place.metric->sum_ns,
			(uint64_t *)&place.metric->max_ns, (uint64_t *)&place.metric->tail);
}

/* The same for the totals. Saves the number of events for check_counts(). */
static int take_total(sqlite3_stmt *row, void *to)
{
	struct target *target = to;
	struct rundb_series *series = find_series(target->db, sqlite3_column_int64(row, 0));
	uint64_t count;

	if (!series || rundb_row__number(row, 4, &count))
		return -EUCLEAN;
	if (__builtin_add_overflow(series->events, count, &series->events))
		return -EUCLEAN;
	return take_sum(row, to);
}

/* Ignores an unknown name: a later version may have more of them; see docs/format.md. */
static int take_acct(sqlite3_stmt *row, void *to)
{
	struct target *target = to;
	struct rundb *db = target->db;
	int metric = rundb_head__metric(db, sqlite3_column_int64(row, 0)), index;
	struct lat_cell *cell;
	char name[RUN_NAME];
	uint64_t count;

	if (metric < 0 || rundb_row__number(row, 2, &count))
		return -EUCLEAN;
	rundb_row__text(row, 1, name, sizeof(name));
	index = counts__find(name);
	if (index < 0)
		return 0;
	cell = &target->data[db->metrics[metric].probe]->metrics[db->metrics[metric].metric];
	return add(db, (uint64_t *)&cell->counts[index], count);
}

static uint64_t events_of(const struct place *place)
{
	return place->key ? sparse__count(place->key) : hist__count(place->metric);
}

static uint64_t tail_of(const struct place *place)
{
	return place->key ? place->key->tail : place->metric->tail;
}

/* The slots and the sums of a series were written together and must agree. */
static int check_counts(const struct target *target)
{
	for (size_t i = 0; i < target->db->nr_series; i++) {
		const struct rundb_series *series = &target->db->series[i];
		struct place place;

		if (!find_place(target, series->id, &place) ||
		    events_of(&place) != series->events || tail_of(&place) > series->events)
			return -EUCLEAN;
	}
	return 0;
}

static int read_totals(struct rundb *db)
{
	static const char sums[] = "SELECT series, sum_ns, max_ns, tail, count FROM sums";
	struct target target = { .db = db };

	for (unsigned int i = 0; i < RUN_PROBES; i++)
		target.data[i] = &db->run->probes[i].total;
	return each_in_span(db, "SELECT series, slot, count FROM slots", take_slot, &target) ?:
	       each_in_span(db, sums, take_total, &target) ?:
	       each_in_span(db, "SELECT metric, name, count FROM acct", take_acct, &target) ?:
	       check_counts(&target);
}

/* The duration of an incomplete recording is the end of its last interval. */
static int read_duration(struct rundb *db)
{
	int64_t end = 0;
	int err;

	if (db->run->complete || db->span.is_set)
		return 0;
	err = sql__number(db->db, "SELECT max(end_ns) FROM interval", &end);
	db->run->duration_ns = end > 0 ? (uint64_t)end : 0;
	return err;
}

static int read_all(struct rundb *db)
{
	/* One transaction, so the data is consistent even if a recorder still writes. */
	return sql__exec(db->db, "BEGIN") ?:
	       rundb_check__content(db->db) ?:
	       rundb_head__read(db) ?:
	       rundb_span__find(db->db, &db->span, db->run) ?:
	       read_totals(db) ?:
	       read_tables(db) ?:
	       read_duration(db);
}

int rundb__open_span(struct rundb **db, const char *path, struct run *run, uint64_t from_ns,
		     uint64_t to_ns)
{
	struct rundb *made;
	bool held;
	int err;

	memset(run, 0, sizeof(*run));
	run->workload_status = RUN_NOT_ENDED;
	/*
	 * Check the lock before reading: if the recorder ends in between, the recording is
	 * complete.
	 */
	held = rundir__is_held(path);
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->run = run;
	made->span = (struct rundb_span){ .is_set = from_ns || to_ns != UINT64_MAX,
					  .from_ns = from_ns,
					  .to_ns = to_ns };
	err = rundb_check__open(&made->db, path, &made->budget);
	if (err)
		goto err_free;
	err = read_all(made);
	if (err)
		goto err_close;
	run->running = held && !run->complete;
	*db = made;
	return 0;

err_close:
	rundb__close(made);
	run__clear(run);
	return err;
err_free:
	free(made);
	return err;
}

int rundb__open(struct rundb **db, const char *path, struct run *run)
{
	return rundb__open_span(db, path, run, 0, UINT64_MAX);
}

static void forget_deltas(struct rundb *db)
{
	for (unsigned int i = 0; i < RUNDB_PARTS; i++) {
		sqlite3_finalize(db->parts[i]);
		db->parts[i] = NULL;
	}
	free(db->filled);
	db->filled = NULL;
	db->nr_filled = 0;
	for (unsigned int i = 0; db->deltas && i < RUN_PROBES; i++)
		run__clear_data(&db->deltas[i]);
	free(db->deltas);
	db->deltas = NULL;
}

void rundb__close(struct rundb *db)
{
	if (!db)
		return;
	sqlite3_finalize(db->intervals);
	forget_deltas(db);
	sqlite3_close(db->db);
	free(db->series);
	free(db);
}

/* The keys of the totals with empty histograms. */
static int copy_keys(struct run_data *to, const struct run_data *from)
{
	int err = 0;

	for (size_t i = 0; !err && i < from->nr_keys; i++)
		err = run__add_key(to, &from->keys[i].key, from->keys[i].name);
	return err;
}

#define SLOTS "SELECT series, slot, count FROM slots WHERE interval = ?"
#define SUMS "SELECT series, sum_ns, max_ns, tail FROM sums WHERE interval = ?"
#define ACCT "SELECT metric, name, count FROM acct WHERE interval = ?"
#define OF_METRICS " AND series <= ?" /* the series of keys have higher IDs */

static int prepare_parts(struct rundb *db)
{
	bool metrics = db->without_keys;
	const struct table *table;
	char name[RUN_NAME];
	int err;

	err = sql__prepare(db->db, &db->parts[RUNDB_PART_SLOTS],
			   metrics ? SLOTS OF_METRICS : SLOTS);
	if (!err)
		err = sql__prepare(db->db, &db->parts[RUNDB_PART_SUMS],
				   metrics ? SUMS OF_METRICS : SUMS);
	if (!err)
		err = sql__prepare(db->db, &db->parts[RUNDB_PART_ACCT], ACCT);
	for (unsigned int i = 0; !err && i < RUN_ALL_TABLES; i++) {
		table = run__nth_table(db->run, i, name);
		if (table)
			err = rundb_table__select(db->db, &db->parts[RUNDB_PART_ROWS + i], name,
						  table);
	}
	return err;
}

static int start_walk(struct rundb *db)
{
	int err;

	db->deltas = calloc(RUN_PROBES, sizeof(*db->deltas));
	if (!db->deltas)
		return -ENOMEM;
	err = prepare_parts(db);
	for (unsigned int i = 0; !err && !db->without_keys && i < db->run->nr_probes; i++)
		err = copy_keys(&db->deltas[i], &db->run->probes[i].total);
	if (err)
		return err;
	return rundb_span__prepare(db->db, &db->span, &db->intervals,
				   "SELECT id, start_ns, end_ns FROM interval", "id",
				   " ORDER BY id");
}

static int read_part(struct rundb *db, enum rundb_part part, int64_t interval, sql_take *take,
		     struct target *target)
{
	sqlite3_stmt *statement = db->parts[part];
	int err;

	sqlite3_bind_int64(statement, 1, interval);
	if (sqlite3_bind_parameter_count(statement) > 1)
		sqlite3_bind_int64(statement, 2, db->last_total);
	err = sql__each(statement, take, target);
	sqlite3_reset(statement);
	return err;
}

static int read_interval(struct rundb *db, int64_t id)
{
	struct target target = { .db = db, .without_keys = db->without_keys };
	struct table *table;
	char name[RUN_NAME];
	int err;

	while (db->nr_filled)
		*db->filled[--db->nr_filled] = 0;
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		target.data[i] = &db->deltas[i];
	err = read_part(db, RUNDB_PART_SLOTS, id, take_slot, &target);
	if (!err)
		err = read_part(db, RUNDB_PART_SUMS, id, take_sum, &target);
	if (!err && !db->without_keys)
		err = read_part(db, RUNDB_PART_ACCT, id, take_acct, &target);
	for (unsigned int i = 0; !err && i < RUN_ALL_TABLES; i++) {
		table = run__nth_table(db->run, i, name);
		if (table)
			err = rundb_table__read(db->parts[RUNDB_PART_ROWS + i], id, table);
	}
	return err;
}

ssize_t rundb__intervals(struct rundb *db)
{
	int64_t nr = 0;
	sqlite3_stmt *row;
	int err = rundb_span__prepare(db->db, &db->span, &row, "SELECT count(*) FROM interval",
				      "id", "");

	err = sql__finish(err, row, sql__take_number, &nr);
	return err ? err : (ssize_t)nr;
}

int rundb__next(struct rundb *db, struct run_interval *interval)
{
	int err = 0;

	if (!db->intervals)
		err = start_walk(db);
	if (err)
		return err;
	err = sql__step(db->intervals);
	if (err <= 0 || !interval)
		return err;
	if (rundb_row__number(db->intervals, 1, &interval->start_ns) ||
	    rundb_row__number(db->intervals, 2, &interval->end_ns) ||
	    interval->end_ns < interval->start_ns || interval->start_ns < db->last_start_ns)
		return -EUCLEAN;
	db->last_start_ns = interval->start_ns;
	interval->delta = db->deltas;
	err = read_interval(db, sqlite3_column_int64(db->intervals, 0));
	return err ? err : 1;
}

void rundb__rewind(struct rundb *db, bool keys)
{
	sqlite3_finalize(db->intervals);
	db->intervals = NULL;
	db->last_start_ns = 0;
	db->budget.steps = db->budget.all;
	forget_deltas(db);
	db->without_keys = !keys;
}

/* ---- questions that need no handle ---- */

int rundb__is_in(const char *dir)
{
	char file[PATH_MAX];

	if (snprintf(file, sizeof(file), "%s/run.db", dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	/* a reason that depends on the capabilities this process still has */
	if (!faccessat(AT_FDCWD, file, F_OK, AT_EACCESS))
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

int rundb__load(const char *path, struct run *run)
{
	struct rundb *db;
	int err;

	err = rundb__open(&db, path, run);
	if (err)
		return err;
	rundb__close(db);
	return 0;
}

const char *rundb__explain(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no recording";
	case -EMEDIUMTYPE:
		return "this is not a recording of latscope";
	case -EPROTONOSUPPORT:
		return "this recording was made by another version of latscope";
	case -EUCLEAN:
		return "this recording is damaged";
	case -EBADFD:
		return "its run.db-wal or run.db-journal is not a regular file";
	case -EROFS:
		return "its run.db-journal holds a change that another program did not finish";
	case -E2BIG:
		return "this recording has more keys than latscope writes";
	case -EOVERFLOW:
		return "reading this recording takes more work than its size explains";
	default:
		return strerror(-err);
	}
}
