// SPDX-License-Identifier: BSD-2-Clause
#include "rundb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <core/activity.h>
#include <core/counts.h>
#include <core/hist.h>
#include <core/pressure.h>
#include <core/split.h>
#include <core/vec.h>

#include "rundb_internal.h"
#include "rundb_span.h"
#include "rundb_table.h"
#include "rundb_version.h"
#include "rundb_why.h"
#include "rundir.h"
#include "sql.h"

/* No recording has more: --max-keys is at most 65536, plus the (other) keys. */
#define MOST_KEYS (65536 + 1024) /* per probe */
#define MOST_SERIES (3 * MOST_KEYS + RUN_PROBES * RUN_METRICS)

/* A series, and the metric or key that gets its samples. */
struct series {
	int64_t id;
	unsigned int probe;
	unsigned int metric;
	bool total;
	size_t key; /* unless `total` */
	uint64_t events; /* in the whole recording, from the sums */
};

/* The parts of an interval that are read; the last ones are rows of tables. */
enum part { PART_SLOTS, PART_SUMS, PART_ACCT, PART_ROWS, PARTS = PART_ROWS + RUN_ALL_TABLES };

struct rundb {
	sqlite3 *db;
	struct rundb_budget budget;
	struct rundb_span span;
	struct run *run;
	int64_t probe_ids[RUN_PROBES];
	struct {
		int64_t id;
		unsigned int probe;
		unsigned int metric;
	} metrics[RUN_PROBES * RUN_METRICS];
	unsigned int nr_metrics;
	struct series *series; /* sorted by id */
	size_t nr_series;
	int64_t last_total; /* the largest ID of the series that are a whole metric */
	struct run_data *deltas; /* one per probe: the last interval that was read */
	uint64_t **filled; /* addresses of the numbers in the deltas that are not 0 */
	size_t nr_filled;
	sqlite3_stmt *intervals;
	/* for one interval: prepared once, because there may be a million */
	sqlite3_stmt *parts[PARTS];
	uint64_t last_start_ns; /* the last interval that was read */
	bool without_keys; /* of the intervals */
};

static int read_one(sqlite3 *db, const char *sql, int64_t *value)
{
	sqlite3_stmt *statement;
	int err;

	err = sql__prepare(db, &statement, sql);
	if (err)
		return err;
	err = sql__step(statement);
	if (err > 0)
		*value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return err < 0 ? err : 0;
}

typedef int consume_row(struct rundb *db, sqlite3_stmt *row, void *to);

/* Stops at the first error. */
static int walk_rows(struct rundb *db, sqlite3_stmt *statement, consume_row *consume, void *to)
{
	int err;

	while ((err = sql__step(statement)) > 0) {
		err = consume(db, statement, to);
		if (err)
			break;
	}
	return err;
}

/* Walks the rows of a statement that was prepared with the result err, and finalizes it. */
static int walk_prepared(struct rundb *db, int err, sqlite3_stmt *statement, consume_row *consume,
			 void *to)
{
	if (!err)
		err = walk_rows(db, statement, consume, to);
	sqlite3_finalize(statement);
	return err;
}

static int each_row(struct rundb *db, const char *sql, consume_row *consume, void *to)
{
	sqlite3_stmt *statement;
	int err = sql__prepare(db->db, &statement, sql);

	return walk_prepared(db, err, statement, consume, to);
}

/* The same for what depends on the version of the file. */
static int each_selected(struct rundb *db, enum rundb_select select, consume_row *consume)
{
	sqlite3_stmt *statement;
	int err = rundb_version__prepare(db->db, &statement, select);

	return walk_prepared(db, err, statement, consume, NULL);
}

/* The same for the rows of the intervals in the span. */
static int each_in_span(struct rundb *db, const char *sql, consume_row *consume, void *to)
{
	sqlite3_stmt *statement;
	int err = rundb_span__prepare(db->db, &db->span, &statement, sql, "interval", "");

	return walk_prepared(db, err, statement, consume, to);
}

static int take_meta(struct rundb *db, sqlite3_stmt *row, void *to)
{
	(void)to;
	return rundb_meta__take(db->run, row);
}

static int take_label(struct rundb *db, sqlite3_stmt *row, void *to)
{
	struct run *run = db->run;

	(void)to;
	if (run->nr_labels == RUN_LABELS)
		return -EUCLEAN;
	rundb_row__text(row, 0, run->labels[run->nr_labels].key, RUN_NAME);
	rundb_row__text(row, 1, run->labels[run->nr_labels].value, RUN_TEXT);
	run->nr_labels++;
	return 0;
}

/* What is known only at the end is null in an incomplete recording. */
static int take_probe_end(struct run_probe *probe, sqlite3_stmt *row, int column)
{
	uint64_t count, sum_ns = 0, before = 0;
	uint64_t *const numbers[] = {
		&probe->recursion_missed,
		&probe->cost.runs,
		&probe->cost.run_ns,
		&probe->cost.timed_ns,
		&probe->cost.timed_events,
		&sum_ns,
		&before,
	};
	int64_t oldest_ns = sqlite3_column_int64(row, column + 1);
	int err;

	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return 0;
	err = rundb_row__number(row, column, &count);
	for (unsigned int i = 0; !err && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		err = rundb_row__number(row, column + 2 + (int)i, numbers[i]);
	if (err || before > count)
		return -EUCLEAN;
	probe->in_flight_age_known = oldest_ns >= 0;
	probe->in_flight =
		(struct lat_in_flight){ .count = count,
					.before = before,
					.sum_ns = sum_ns,
					.oldest_ns = oldest_ns > 0 ? (uint64_t)oldest_ns : 0 };
	return 0;
}

static int take_probe(struct rundb *db, sqlite3_stmt *row, void *to)
{
	struct run *run = db->run;
	struct run_probe *probe = &run->probes[run->nr_probes];
	char split[SPLIT_TEXT];
	int err;

	(void)to;
	if (run->nr_probes == RUN_PROBES)
		return -EUCLEAN;
	db->probe_ids[run->nr_probes++] = sqlite3_column_int64(row, 0);
	rundb_row__text(row, 1, probe->name, sizeof(probe->name));
	rundb_row__text(row, 2, probe->method, sizeof(probe->method));
	rundb_row__text(row, 3, probe->mechanism, sizeof(probe->mechanism));
	rundb_row__text(row, 4, probe->refused, sizeof(probe->refused));
	rundb_row__text(row, 5, split, sizeof(split));
	if (split[0] && split__parse(split, &probe->by))
		return -EUCLEAN;
	err = take_probe_end(probe, row, 6);
	if (!err)
		err = rundb_why__totals(probe, row, 15);
	if (!err)
		err = rundb_row__number(row, 21, &probe->tail_ns);
	if (!err && sqlite3_column_type(row, 26) != SQLITE_NULL)
		err = rundb_row__number(row, 26, &probe->no_event);
	if (!err)
		rundb_row__text(row, 27, probe->in_flight_of, sizeof(probe->in_flight_of));
	if (db->span.is_set)
		rundb_span__forget(probe);
	return err;
}

static int find_probe(const struct rundb *db, int64_t id)
{
	for (unsigned int i = 0; i < db->run->nr_probes; i++) {
		if (db->probe_ids[i] == id)
			return (int)i;
	}
	return -EUCLEAN;
}

static int take_metric(struct rundb *db, sqlite3_stmt *row, void *to)
{
	int index = find_probe(db, sqlite3_column_int64(row, 1));
	struct run_probe *probe;

	(void)to;
	if (index < 0)
		return index;
	probe = &db->run->probes[index];
	if (probe->nr_metrics == RUN_METRICS)
		return -EUCLEAN;
	db->metrics[db->nr_metrics].id = sqlite3_column_int64(row, 0);
	db->metrics[db->nr_metrics].probe = (unsigned int)index;
	db->metrics[db->nr_metrics++].metric = probe->nr_metrics;
	rundb_row__text(row, 2, probe->metrics[probe->nr_metrics].name, RUN_NAME);
	rundb_row__text(row, 3, probe->metrics[probe->nr_metrics].what, RUN_TEXT);
	probe->nr_metrics++;
	return 0;
}

static int find_metric(const struct rundb *db, int64_t id)
{
	for (unsigned int i = 0; i < db->nr_metrics; i++) {
		if (db->metrics[i].id == id)
			return (int)i;
	}
	return -EUCLEAN;
}

static int add_key(struct rundb *db, const struct series *series, sqlite3_stmt *row, int by)
{
	struct run_data *total = &db->run->probes[series->probe].total;
	struct lat_key key = { .id = (uint64_t)sqlite3_column_int64(row, 3),
			       .by = (uint32_t)by,
			       .metric = series->metric };
	char name[RUN_NAME];

	if (total->nr_keys == MOST_KEYS)
		return -E2BIG;
	rundb_row__text(row, 4, name, sizeof(name));
	return run__add_key(total, &key, name);
}

static int add_series(struct rundb *db, const struct series *series)
{
	struct series *grown;

	grown = vec__grow(db->series, db->nr_series, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	db->series = grown;
	db->series[db->nr_series++] = *series;
	return 0;
}

static int take_series(struct rundb *db, sqlite3_stmt *row, void *to)
{
	int metric = find_metric(db, sqlite3_column_int64(row, 1)), by, err;
	struct series series;
	char split[SPLIT_TEXT];

	(void)to;
	if (metric < 0)
		return metric;
	rundb_row__text(row, 2, split, sizeof(split));
	series = (struct series){ .id = sqlite3_column_int64(row, 0),
				  .probe = db->metrics[metric].probe,
				  .metric = db->metrics[metric].metric,
				  .total = !split[0] };
	if (series.total) {
		db->last_total = series.id;
	} else {
		by = split__find(split);
		if (by < 0)
			return -EUCLEAN;
		series.key = db->run->probes[series.probe].total.nr_keys;
		err = add_key(db, &series, row, by);
		if (err)
			return err;
	}
	return add_series(db, &series);
}

/* Checks the number of series before it allocates memory for them. */
static int count_series(struct rundb *db)
{
	int64_t nr = 0;
	int err;

	err = read_one(db->db, "SELECT count(*) FROM series", &nr);
	if (err)
		return err;
	return nr > MOST_SERIES ? -E2BIG : 0;
}

static int read_head(struct rundb *db)
{
	int err;

	err = count_series(db);
	if (!err)
		err = each_row(db, "SELECT name, value FROM meta", take_meta, NULL);
	if (!err)
		err = each_row(db, "SELECT name, value FROM label ORDER BY id", take_label, NULL);
	if (!err)
		err = each_selected(db, RUNDB_SELECT_PROBES, take_probe);
	if (!err)
		err = each_selected(db, RUNDB_SELECT_METRICS, take_metric);
	if (!err)
		err = each_row(db, "SELECT id, metric, split, key, name FROM series ORDER BY id",
			       take_series, NULL);
	return err;
}

static int read_tables(struct rundb *db)
{
	struct run_probe *probe;
	int err = 0;

	for (unsigned int i = 0; !err && i < db->run->nr_probes; i++) {
		probe = &db->run->probes[i];
		if (!db->span.is_set)
			err = rundb_account__read(db->db, db->probe_ids[i], &probe->check);
		if (!err)
			err = rundb_table__load_own(db->db, &db->span, probe);
		if (!err)
			err = rundb_why__read(db->db, &db->span, probe);
	}
	if (!err)
		err = rundb_table__sum(db->db, &db->span, PRESSURE_NAME, &db->run->pressure.table);
	if (!err)
		err = rundb_table__sum(db->db, &db->span, ACTIVITY_NAME, &db->run->activity);
	return !err && db->run->activity && !activity__is(db->run->activity) ? -EUCLEAN : err;
}

static int compare_ids(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = ((const struct series *)right)->id;

	return a < b ? -1 : a > b;
}

/* Where the data of each probe goes: into the run's totals, or into an interval's deltas. */
struct target {
	struct run_data *data[RUN_PROBES];
	bool without_keys;
};

static struct series *find_series(const struct rundb *db, int64_t id)
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

static bool find_place(const struct rundb *db, const struct target *target, int64_t id,
		       struct place *place)
{
	const struct series *series = find_series(db, id);
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
	uint64_t **grown;

	if (!db->deltas || *number)
		return 0;
	grown = vec__grow(db->filled, db->nr_filled, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	db->filled = grown;
	db->filled[db->nr_filled++] = number;
	return 0;
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

static int take_slot(struct rundb *db, sqlite3_stmt *row, void *to)
{
	uint64_t slot, count;
	struct place place;
	int err;

	if (!find_place(db, to, sqlite3_column_int64(row, 0), &place) ||
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

static int take_sum(struct rundb *db, sqlite3_stmt *row, void *to)
{
	struct place place;

	if (!find_place(db, to, sqlite3_column_int64(row, 0), &place))
		return -EUCLEAN;
	if (place.key)
		return add_sums(db, row, &place.key->sum_ns, &place.key->max_ns, &place.key->tail);
	return add_sums(db, row, (uint64_t *)&place.metric->sum_ns,
			(uint64_t *)&place.metric->max_ns, (uint64_t *)&place.metric->tail);
}

/* The same for the totals. Saves the number of events for check_counts(). */
static int take_total(struct rundb *db, sqlite3_stmt *row, void *to)
{
	struct series *series = find_series(db, sqlite3_column_int64(row, 0));
	uint64_t count;

	if (!series || rundb_row__number(row, 4, &count))
		return -EUCLEAN;
	if (__builtin_add_overflow(series->events, count, &series->events))
		return -EUCLEAN;
	return take_sum(db, row, to);
}

/* Ignores an unknown name: a later version may have more of them; see docs/format.md. */
static int take_acct(struct rundb *db, sqlite3_stmt *row, void *to)
{
	int metric = find_metric(db, sqlite3_column_int64(row, 0)), index;
	struct target *target = to;
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
static int check_counts(const struct rundb *db, const struct target *target)
{
	for (size_t i = 0; i < db->nr_series; i++) {
		const struct series *series = &db->series[i];
		struct place place;

		if (!find_place(db, target, series->id, &place) ||
		    events_of(&place) != series->events || tail_of(&place) > series->events)
			return -EUCLEAN;
	}
	return 0;
}

static int read_totals(struct rundb *db)
{
	struct target target = { 0 };
	int err;

	for (unsigned int i = 0; i < RUN_PROBES; i++)
		target.data[i] = &db->run->probes[i].total;
	err = each_in_span(db, "SELECT series, slot, count FROM slots", take_slot, &target);
	if (!err)
		err = each_in_span(db, "SELECT series, sum_ns, max_ns, tail, count FROM sums",
				   take_total, &target);
	if (!err)
		err = each_in_span(db, "SELECT metric, name, count FROM acct", take_acct, &target);
	return err ? err : check_counts(db, &target);
}

/* The duration of an incomplete recording is the end of its last interval. */
static int read_duration(struct rundb *db)
{
	int64_t end = 0;
	int err;

	if (db->run->complete || db->span.is_set)
		return 0;
	err = read_one(db->db, "SELECT max(end_ns) FROM interval", &end);
	db->run->duration_ns = end > 0 ? (uint64_t)end : 0;
	return err;
}

static int read_all(struct rundb *db)
{
	int err;

	/* One transaction, so the data is consistent even if a recorder still writes. */
	err = sql__exec(db->db, "BEGIN");
	if (!err)
		err = rundb_check__content(db->db);
	if (!err)
		err = read_head(db);
	if (!err)
		err = rundb_span__find(db->db, &db->span, db->run);
	if (!err)
		err = read_totals(db);
	if (!err)
		err = read_tables(db);
	if (!err)
		err = read_duration(db);
	if (!err && !db->span.is_set)
		err = rundb_process__read(db->db, db->run);
	if (!err)
		err = rundb_why__read_frames(db->db, db->run);
	return err;
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
	for (unsigned int i = 0; i < PARTS; i++) {
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

	err = sql__prepare(db->db, &db->parts[PART_SLOTS], metrics ? SLOTS OF_METRICS : SLOTS);
	if (!err)
		err = sql__prepare(db->db, &db->parts[PART_SUMS], metrics ? SUMS OF_METRICS : SUMS);
	if (!err)
		err = sql__prepare(db->db, &db->parts[PART_ACCT], ACCT);
	for (unsigned int i = 0; !err && i < RUN_ALL_TABLES; i++) {
		table = run__nth_table(db->run, i, name);
		if (table)
			err = rundb_table__select(db->db, &db->parts[PART_ROWS + i], name, table);
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

static int read_part(struct rundb *db, enum part part, int64_t interval, consume_row *consume,
		     struct target *target)
{
	sqlite3_stmt *statement = db->parts[part];
	int err;

	sqlite3_bind_int64(statement, 1, interval);
	if (sqlite3_bind_parameter_count(statement) > 1)
		sqlite3_bind_int64(statement, 2, db->last_total);
	err = walk_rows(db, statement, consume, target);
	sqlite3_reset(statement);
	return err;
}

static int read_interval(struct rundb *db, int64_t id)
{
	struct target target = { .without_keys = db->without_keys };
	struct table *table;
	char name[RUN_NAME];
	int err;

	while (db->nr_filled)
		*db->filled[--db->nr_filled] = 0;
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		target.data[i] = &db->deltas[i];
	err = read_part(db, PART_SLOTS, id, take_slot, &target);
	if (!err)
		err = read_part(db, PART_SUMS, id, take_sum, &target);
	if (!err && !db->without_keys)
		err = read_part(db, PART_ACCT, id, take_acct, &target);
	for (unsigned int i = 0; !err && i < RUN_ALL_TABLES; i++) {
		table = run__nth_table(db->run, i, name);
		if (table)
			err = rundb_table__read(db->parts[PART_ROWS + i], id, table);
	}
	return err;
}

ssize_t rundb__intervals(struct rundb *db)
{
	ssize_t nr = 0;
	sqlite3_stmt *row;
	int err;

	err = rundb_span__prepare(db->db, &db->span, &row, "SELECT count(*) FROM interval", "id",
				  "");
	if (!err)
		err = sql__step(row);
	if (err > 0)
		nr = (ssize_t)sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return err < 0 ? err : nr;
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
