// SPDX-License-Identifier: BSD-2-Clause
/* What run.db has of the recording as a whole: all but the tables of probes and the intervals. */
#include "rundb_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>
#include <core/vec.h>

#include "rundb_rows.h"
#include "sql.h"

/* No recording has more: --max-keys is at most 65536, plus the (other) keys. */
#define MOST_KEYS (65536 + 1024) /* per probe */
#define MOST_SERIES (3 * MOST_KEYS + RUN_PROBES * RUN_METRICS)

/* Calls take(row, db) for all rows of a table. */
static int each_of(struct rundb *db, const struct rundb_rows *rows, sql_take *take)
{
	sqlite3_stmt *row;
	int err = rundb_rows__select(db->db, &row, rows, NULL);

	return sql__finish(err, row, take, db);
}

static int take_split(sqlite3_stmt *row, uint32_t *by)
{
	char name[RUN_NAME];
	int split;

	rundb_row__text(row, 1, name, sizeof(name));
	split = split__find(name);
	*by = split < 0 ? 0 : 1 + (uint32_t)split;
	return split < 0 ? -EUCLEAN : 0;
}

/* A text of any length, as it is. */
static int take_whole(sqlite3_stmt *row, char **text)
{
	const char *value = (const char *)sqlite3_column_text(row, 1);

	if (!value)
		return -EUCLEAN;
	free(*text);
	*text = strdup(value);
	return *text ? 0 : -ENOMEM;
}

#define META(name, kind, member) RUNDB_COLUMN(name, kind, 0, struct run, member)
static const struct rundb_column metas[] = {
	{ META("start_utc", TEXT, start_utc) },
	{ META("start_mono_ns", NUMBER, start_mono_ns) },
	{ META("real_offset_ns", NUMBER, real_offset_ns) },
	{ META("boot_offset_ns", NUMBER, boot_offset_ns) },
	{ META("duration_ns", NUMBER, duration_ns) },
	{ META("interval_ns", NUMBER, interval_ns) },
	{ META("workload_outlived", NUMBER, workload_outlived) },
	{ META("workload_uncounted", FLAG, workload_uncounted) },
	{ META("complete", FLAG, complete) },
	{ META("pressure_why", TEXT, pressure.why) },
	{ META("frames_why", TEXT, frames_why) },
};

static int take_meta(sqlite3_stmt *row, void *to)
{
	struct rundb *db = to;
	struct run *run = db->run;
	const struct {
		const char *name;
		char **text;
	} wholes[] = { { "workload", &run->workload },
		       { "filter", &run->filter },
		       { "host", &run->host },
		       { "pressure_cgroup", &run->pressure.cgroup } };
	uint64_t status = 0;
	char name[RUN_NAME];
	int err = 0;

	rundb_row__text(row, 0, name, sizeof(name));
	for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++)
		if (!strcmp(name, metas[i].name))
			return rundb_row__field(row, 1, &metas[i], run);
	for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++)
		if (!strcmp(name, wholes[i].name))
			return take_whole(row, wholes[i].text);
	if (!strcmp(name, "why_by"))
		return take_split(row, &run->why_by);
	if (!strcmp(name, "tail_ns"))
		return rundb_row__number(row, 1, &db->tail_ns);
	if (!strcmp(name, "workload_status")) {
		err = rundb_row__number(row, 1, &status);
		run->workload_status = (int)(status & 0xffff);
	}
	return err;
}

static int take_label(sqlite3_stmt *row, void *to)
{
	struct run *run = ((struct rundb *)to)->run;
	uint64_t id;
	int err;

	if (run->nr_labels == RUN_LABELS)
		return -EUCLEAN;
	err = rundb_rows__read(row, &rundb_labels,
			       (void *[]){ &id, &run->labels[run->nr_labels++] });
	return err < 0 ? err : 0;
}

/* What is known only at the end is null in an incomplete recording. */
static int take_probe(sqlite3_stmt *row, void *to)
{
	struct rundb *db = to;
	struct run_probe *probe = &db->run->probes[db->run->nr_probes];
	struct run_why *why;
	int64_t oldest_ns;
	void *parts[PROBE_PARTS] = {
		[PROBE_ID] = &db->probe_ids[db->run->nr_probes],
		[PROBE_BEGIN] = probe,
		[PROBE_END] = probe,
		[PROBE_OLDEST] = &oldest_ns,
	};
	int there;

	if (db->run->nr_probes == RUN_PROBES)
		return -EUCLEAN;
	why = calloc(1, sizeof(*why));
	if (!why)
		return -ENOMEM;
	parts[PROBE_WHY] = why;
	db->run->nr_probes++;
	there = rundb_rows__read(row, &rundb_probes, parts);
	if (there > 0 && there & 1 << PROBE_WHY)
		probe->why = why;
	else
		free(why);
	if (probe->filter && !probe->filter[0]) { /* null in the recording */
		free(probe->filter);
		probe->filter = NULL;
	}
	if (there < 0 || probe->in_flight.before > probe->in_flight.count)
		return -EUCLEAN;
	if (!probe->tail_ns)
		probe->tail_ns = db->tail_ns;
	probe->in_flight_age_known = there & 1 << PROBE_OLDEST && oldest_ns >= 0;
	probe->in_flight.oldest_ns = oldest_ns > 0 ? (uint64_t)oldest_ns : 0;
	if (db->span.is_set)
		rundb_span__forget(probe);
	return 0;
}

static int find_probe(const struct rundb *db, uint64_t id)
{
	for (unsigned int i = 0; i < db->run->nr_probes; i++) {
		if (db->probe_ids[i] == id)
			return (int)i;
	}
	return -EUCLEAN;
}

static int take_metric(sqlite3_stmt *row, void *to)
{
	struct rundb *db = to;
	struct rundb_metric metric;
	struct run_metric read;
	struct run_probe *probe;
	int err = rundb_rows__read(row, &rundb_metrics, (void *[]){ &metric, &read });
	int index = err < 0 ? err : find_probe(db, metric.probe);

	if (index < 0)
		return index;
	probe = &db->run->probes[index];
	if (probe->nr_metrics == RUN_METRICS)
		return -EUCLEAN;
	db->metrics[db->nr_metrics].id = (int64_t)metric.id;
	db->metrics[db->nr_metrics].probe = (unsigned int)index;
	db->metrics[db->nr_metrics++].metric = probe->nr_metrics;
	probe->metrics[probe->nr_metrics++] = read;
	return 0;
}

static int take_check(sqlite3_stmt *row, void *to)
{
	struct rundb *db = to;
	struct rundb_checked place;
	struct run_checked sum = { 0 };
	struct run_check check, *of;
	int there = rundb_rows__read(row, &rundb_checks, (void *[]){ &place, &check, &sum });
	int index = there < 0 ? there : find_probe(db, place.probe);

	if (index < 0)
		return index;
	of = &db->run->probes[index].check;
	memcpy(of->source, check.source, sizeof(of->source));
	memcpy(of->why, check.why, sizeof(of->why));
	sum.known = there & 1 << 2;
	*(place.sum[0] == 't' ? &of->time : &of->events) = sum;
	return 0;
}

static int take_frame(sqlite3_stmt *row, void *to)
{
	struct frame frame = { 0 };
	void *const parts[] = { &frame };
	int err = rundb_rows__read(row, &rundb_frames, parts);

	if (err >= 0)
		err = frames__add(&((struct rundb *)to)->run->frames, &frame);
	rundb_rows__forget(&rundb_frames, parts);
	return err;
}

int rundb_head__metric(const struct rundb *db, int64_t id)
{
	for (unsigned int i = 0; i < db->nr_metrics; i++) {
		if (db->metrics[i].id == id)
			return (int)i;
	}
	return -EUCLEAN;
}

static int add_key(struct rundb *db, const struct rundb_series *series, sqlite3_stmt *row, int by)
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

static int take_series(sqlite3_stmt *row, void *to)
{
	struct rundb *db = to;
	int metric = rundb_head__metric(db, sqlite3_column_int64(row, 1)), by, err;
	struct rundb_series series;
	char split[SPLIT_TEXT];

	if (metric < 0)
		return metric;
	rundb_row__text(row, 2, split, sizeof(split));
	series = (struct rundb_series){ .id = sqlite3_column_int64(row, 0),
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
	return vec__append(&db->series, &db->nr_series, &series, sizeof(series));
}

static int each_row(struct rundb *db, const char *sql, sql_take *take)
{
	sqlite3_stmt *row;
	int err = sql__prepare(db->db, &row, sql);

	return sql__finish(err, row, take, db);
}

int rundb_head__read(struct rundb *db)
{
	int64_t nr = 0;
	/* Before memory is allocated for them. */
	int err = sql__number(db->db, "SELECT count(*) FROM series", &nr);

	if (!err && nr > MOST_SERIES)
		err = -E2BIG;
	if (!err)
		err = each_row(db, "SELECT name, value FROM meta", take_meta);
	if (!err)
		err = each_of(db, &rundb_labels, take_label);
	if (!err)
		err = each_of(db, &rundb_probes, take_probe);
	if (!err)
		err = each_of(db, &rundb_metrics, take_metric);
	if (!err)
		err = each_row(db, "SELECT id, metric, split, key, name FROM series ORDER BY id",
			       take_series);
	return err;
}

int rundb_head__read_ends(struct rundb *db)
{
	int err = db->span.is_set ? 0 : each_of(db, &rundb_checks, take_check);

	if (!err)
		err = each_of(db, &rundb_frames, take_frame);
	frames__sort(&db->run->frames);
	return err;
}
