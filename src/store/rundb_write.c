// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <core/counts.h>
#include <core/hist.h>
#include <core/split.h>
#include <core/vec.h>

#include "rundb.h"
#include "rundb_internal.h"
#include "rundb_rows.h"
#include "rundir.h"
#include "sql.h"
#include "writer.h"

/*
 * Uses a write-ahead log, because
 *
 * - after a kill -9 or with a full disk, all intervals that are completely in the log can be read,
 *   without writing to the file; a rollback journal would have to be rolled back first;
 * - with synchronous=NORMAL only a checkpoint waits for the disk, once per 64 MB of log. A sync per
 *   interval would be measured by iolat.
 *
 * The log is folded in when the recording ends, so a complete recording is a single file.
 */
static const char pragmas[] = "PRAGMA journal_mode=WAL;"
			      "PRAGMA synchronous=NORMAL;"
			      "PRAGMA wal_autocheckpoint=0;"; /* fold_log() does it instead */

#define LOG_PAGES 16384 /* pages of 4 KiB */
#define END_WAIT_MS 2000 /* for readers that have run.db open when the recording ends */

static const char schema[] =
	"PRAGMA synchronous=OFF;"
	"BEGIN;"
	"CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE series(id INTEGER PRIMARY KEY, metric INTEGER, split TEXT, key INTEGER,"
	" name TEXT);"
	"CREATE TABLE interval(id INTEGER PRIMARY KEY, start_ns INTEGER, end_ns INTEGER);"
	"CREATE TABLE slots(interval INTEGER, series INTEGER, slot INTEGER, count INTEGER,"
	" PRIMARY KEY(interval, series, slot)) WITHOUT ROWID;"
	"CREATE TABLE sums(interval INTEGER, series INTEGER, count INTEGER, sum_ns INTEGER,"
	" max_ns INTEGER, tail INTEGER, PRIMARY KEY(interval, series)) WITHOUT ROWID;"
	"CREATE TABLE acct(interval INTEGER, metric INTEGER, name TEXT, count INTEGER,"
	" PRIMARY KEY(interval, metric, name)) WITHOUT ROWID;"
	"CREATE TABLE slot_edges(slot INTEGER PRIMARY KEY, low_ns INTEGER, high_ns INTEGER,"
	" bucket INTEGER);"
	"CREATE VIEW totals AS SELECT probe.name AS probe, metric.name AS metric, series.split,"
	" series.name, sum(sums.count) AS events, sum(sums.sum_ns) AS sum_ns,"
	" max(sums.max_ns) AS max_ns, sum(sums.tail) AS tail"
	" FROM series JOIN sums ON sums.series = series.id JOIN metric ON metric.id = series.metric"
	" JOIN probe ON probe.id = metric.probe GROUP BY series.id;"
	"COMMIT;";

static const struct rundb_rows *const tables[] = { &rundb_labels, &rundb_probes, &rundb_metrics,
						   &rundb_checks, &rundb_frames, &rundb_columns };

enum statement {
	ADD_META,
	ADD_SERIES,
	ADD_EDGES,
	ADD_INTERVAL,
	ADD_SLOT,
	ADD_SUM,
	ADD_ACCT,
	RENAME_SERIES,
	STATEMENTS,
};

static const char *const statements[STATEMENTS] = {
	[ADD_META] = "INSERT OR REPLACE INTO meta VALUES(?, ?)",
	[ADD_SERIES] = "INSERT INTO series VALUES(?, ?, ?, ?, ?)",
	[ADD_EDGES] = "INSERT INTO slot_edges VALUES(?, ?, ?, ?)",
	[ADD_INTERVAL] = "INSERT INTO interval VALUES(?, ?, ?)",
	[ADD_SLOT] = "INSERT INTO slots VALUES(?, ?, ?, ?)",
	[ADD_SUM] = "INSERT INTO sums VALUES(?, ?, ?, ?, ?, ?)",
	[ADD_ACCT] = "INSERT INTO acct VALUES(?, ?, ?, ?)",
	[RENAME_SERIES] = "UPDATE series SET name=? WHERE id=? AND name<>?",
};

/* The series of a probe's keys, by position: the order of keys does not change. */
struct known {
	int64_t *series;
	size_t nr;
};

struct rundb_writer {
	sqlite3 *db;
	int mark; /* lock of the directory while run.db is open; -errno: none */
	struct stat file; /* run.db when it was created */
	/* in pages: limit of the log, and its length at the next checkpoint */
	int log_pages, fold_at;
	sqlite3_stmt *statements[STATEMENTS];
	sqlite3_stmt *rows[RUN_ALL_TABLES]; /* NULL: there is no such table */
	struct known known[RUN_PROBES];
	int64_t last_series;
	int64_t last_interval;
	struct sparse metric; /* the interval that is being written */
	int err; /* first error; nothing is written after it, so the recording has no gap */
};

/* ID of metric m of probe i. The series with the same ID is the whole metric. */
static int64_t metric_id(unsigned int probe, unsigned int metric)
{
	return 1 + (int64_t)probe * RUN_METRICS + metric;
}

static void put(struct rundb_writer *writer, enum statement statement, const char *types, ...)
{
	va_list parameters;

	if (writer->err)
		return;
	va_start(parameters, types);
	writer->err = sql__run_with(writer->statements[statement], types, parameters);
	va_end(parameters);
}

static void begin(struct rundb_writer *writer)
{
	if (!writer->err)
		writer->err = sql__exec(writer->db, "BEGIN IMMEDIATE");
}

static int end(struct rundb_writer *writer)
{
	if (!writer->err)
		writer->err = sql__exec(writer->db, "COMMIT");
	/* After some errors SQLite has rolled back already. */
	if (writer->err && !sqlite3_get_autocommit(writer->db))
		sql__exec(writer->db, "ROLLBACK");
	return writer->err;
}

static void put_row(struct rundb_writer *writer, const struct rundb_rows *rows,
		    const void *const parts[])
{
	sqlite3_stmt *insert;

	if (writer->err)
		return;
	writer->err = rundb_rows__prepare(writer->db, &insert, rows);
	if (!writer->err)
		writer->err = rundb_rows__write(insert, rows, parts);
	sqlite3_finalize(insert);
}

/* NULL and empty: there is none. */
static void put_text(struct rundb_writer *writer, const char *name, const char *value)
{
	if (value && *value)
		put(writer, ADD_META, "tt", name, value);
}

static void put_number(struct rundb_writer *writer, const char *name, uint64_t value)
{
	put(writer, ADD_META, "ti", name, (int64_t)value);
}

static void put_run(struct rundb_writer *writer, const struct run *run)
{
	put_text(writer, "latscope", LATSCOPE_VERSION);
	put_text(writer, "start_utc", run->start_utc);
	put_number(writer, "start_mono_ns", run->start_mono_ns);
	if (run->real_offset_ns) {
		put_number(writer, "real_offset_ns", run->real_offset_ns);
		put_number(writer, "boot_offset_ns", run->boot_offset_ns);
	}
	put_number(writer, "interval_ns", run->interval_ns);
	put_text(writer, "workload", run->workload);
	put_text(writer, "filter", run->filter);
	put_text(writer, "host", run->host);
	if (run->why_by)
		put_text(writer, "why_by", split__name(run->why_by - 1));
	put_number(writer, "complete", 0);
	for (uint64_t id = 1; id <= run->nr_labels; id++)
		put_row(writer, &rundb_labels, (const void *[]){ &id, &run->labels[id - 1] });
}

/* Again at the end, in place of the first row. */
static void put_probe(struct rundb_writer *writer, unsigned int index,
		      const struct run_probe *probe, bool ended)
{
	uint64_t id = (uint64_t)index + 1;
	int64_t oldest_ns = probe->in_flight_age_known ? (int64_t)probe->in_flight.oldest_ns : -1;
	const void *const parts[PROBE_PARTS] = {
		[PROBE_ID] = &id,
		[PROBE_BEGIN] = probe,
		[PROBE_END] = ended ? probe : NULL,
		[PROBE_OLDEST] = ended ? &oldest_ns : NULL,
		[PROBE_WHY] = ended ? probe->why : NULL,
	};

	put_row(writer, &rundb_probes, parts);
}

static void put_metrics(struct rundb_writer *writer, unsigned int index,
			const struct run_probe *probe)
{
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		int64_t id = metric_id(index, i);
		const struct rundb_metric metric = { (uint64_t)id, (uint64_t)index + 1 };

		put_row(writer, &rundb_metrics, (const void *[]){ &metric, &probe->metrics[i] });
		put(writer, ADD_SERIES, "iitit", id, id, "", (int64_t)0, "");
	}
}

static void put_tables(struct rundb_writer *writer, const struct run *run)
{
	const struct table *table;
	char name[RUN_NAME];

	for (unsigned int i = 0; !writer->err && i < RUN_ALL_TABLES; i++) {
		table = run__nth_table(run, i, name);
		if (table)
			writer->err = rundb_table__create(writer->db, name, table);
	}
	put_text(writer, "pressure_why", run->pressure.why);
	put_text(writer, "pressure_cgroup", run->pressure.cgroup);
}

/* The edges of all slots, so that queries need not know the bucket scheme. */
static void put_edges(struct rundb_writer *writer)
{
	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++)
		put(writer, ADD_EDGES, "iiii", (int64_t)slot, (int64_t)hist_slot_low_ns(slot),
		    slot == HIST_OVERFLOW_SLOT ? INT64_MAX : (int64_t)hist_slot_low_ns(slot + 1),
		    (int64_t)hist_slot_bucket(slot));
}

static void disconnect(struct rundb_writer *writer)
{
	for (unsigned int i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(writer->statements[i]);
		writer->statements[i] = NULL;
	}
	for (unsigned int i = 0; i < RUN_ALL_TABLES; i++) {
		sqlite3_finalize(writer->rows[i]);
		writer->rows[i] = NULL;
	}
	sqlite3_close(writer->db);
	writer->db = NULL;
}

static int connect_to(struct rundb_writer *writer, const char *path, const char *setup)
{
	int err;

	err = rundb_file__open_to_write(&writer->db, path);
	if (!err)
		err = sql__exec(writer->db, setup);
	for (unsigned int i = 0; !err && i < STATEMENTS; i++)
		err = sql__prepare(writer->db, &writer->statements[i], statements[i]);
	if (err)
		disconnect(writer);
	return err;
}

/* Call when the tables exist. */
static int prepare_rows(struct rundb_writer *writer, const struct run *run)
{
	const struct table *table;
	char name[RUN_NAME];
	int err = 0;

	for (unsigned int i = 0; !err && i < RUN_ALL_TABLES; i++) {
		table = run__nth_table(run, i, name);
		if (table)
			err = rundb_table__prepare(writer->db, &writer->rows[i], name, table);
	}
	return err;
}

/* A pragma cannot have parameters. */
static int mark(sqlite3 *db)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 SQL_APPLICATION_ID, RUN_SCHEMA);
	return sql__exec(db, sql);
}

/*
 * Writes everything except the intervals, under a temporary name: run.db exists only when complete.
 */
static int create(struct rundb_writer *writer, const struct run *run, const char *path)
{
	char temporary[PATH_MAX], log[PATH_MAX]; /* the log: none */
	int fd, err;

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= PATH_MAX ||
	    snprintf(log, sizeof(log), "%s.new-wal", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	/* SQLite gives the log and the journal the permissions of this file. */
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	err = connect_to(writer, temporary, schema);
	if (err)
		goto err_unlink;
	begin(writer);
	for (size_t i = 0; !writer->err && i < sizeof(tables) / sizeof(tables[0]); i++)
		writer->err = rundb_rows__create(writer->db, tables[i]);
	put_run(writer, run);
	put_edges(writer);
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		put_probe(writer, i, &run->probes[i], false);
		put_metrics(writer, i, &run->probes[i]);
	}
	put_tables(writer, run);
	err = end(writer);
	/*
	 * The mode is stored in the file: change it before the rename, where a kill cannot do harm.
	 */
	if (!err)
		err = mark(writer->db);
	if (!err)
		err = sql__exec(writer->db, "PRAGMA journal_mode=WAL");
	disconnect(writer);
	unlink(log);
	if (!err && rename(temporary, path))
		err = -errno;
err_unlink:
	if (err)
		unlink(temporary);
	return err;
}

int rundb__check_path(const char *dir)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	char path[PATH_MAX], full[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/run.db.new", dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	switch (vfs->xFullPathname(vfs, path, sizeof(full), full) & 0xff) {
	case SQLITE_OK:
		return strlen(full) + strlen("-journal") > (size_t)vfs->mxPathname ? -ENAMETOOLONG
										   : 0;
	case SQLITE_CANTOPEN: /* no such directory: reported by the code that makes it */
		return 0;
	default:
		return -ENAMETOOLONG;
	}
}

static void free_writer(struct rundb_writer *writer)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		free(writer->known[i].series);
	sparse__clear(&writer->metric);
	if (writer->mark >= 0)
		close(writer->mark);
	free(writer);
}

/*
 * Copies the log into the file. If a reader is active, nothing happens; the next attempt comes
 * later.
 */
static void fold_log(struct rundb_writer *writer)
{
	if (!rundb_file__keep_readers_out(writer->db)) {
		/*
		 * Also empties the log, because a new reader could start in the part that will be
		 * overwritten.
		 */
		sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
		rundb_file__let_readers_in(writer->db);
	}
	writer->fold_at += writer->log_pages;
}

static int watch_log(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct rundb_writer *writer = arg;

	(void)db;
	(void)name;
	if (pages < writer->log_pages)
		writer->fold_at = writer->log_pages;
	if (pages >= writer->fold_at)
		fold_log(writer);
	return SQLITE_OK;
}

static int db__open(struct writer *writer, const struct run *run)
{
	struct rundb_writer *made;
	char path[PATH_MAX];
	int err;

	if (!writer->dir)
		return -EINVAL;
	if (snprintf(path, sizeof(path), "%s/run.db", writer->dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!access(path, F_OK))
		return -EEXIST;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->mark = rundir__hold(writer->dir);
	made->log_pages = made->fold_at = writer->log_pages ? writer->log_pages : LOG_PAGES;
	made->last_series = metric_id(RUN_PROBES, 0);
	err = create(made, run, path);
	if (!err && stat(path, &made->file))
		err = -errno;
	if (!err)
		err = connect_to(made, path, pragmas);
	if (!err && writer->no_sync)
		err = sql__exec(made->db, "PRAGMA synchronous=OFF");
	if (!err)
		err = prepare_rows(made, run);
	if (!err)
		sqlite3_wal_hook(made->db, watch_log, made);
	if (err) {
		disconnect(made);
		free_writer(made);
		return err;
	}
	writer->state = made;
	return 0;
}

static void put_hist(struct rundb_writer *writer, int64_t series, const struct sparse *hist)
{
	uint64_t count = sparse__count(hist);

	if (!count && !hist->sum_ns && !hist->tail)
		return;
	put(writer, ADD_SUM, "iiiiii", writer->last_interval, series, (int64_t)count,
	    (int64_t)hist->sum_ns, (int64_t)hist->max_ns, (int64_t)hist->tail);
	for (uint64_t i = 0; i < hist->nr; i++)
		put(writer, ADD_SLOT, "iiii", writer->last_interval, series,
		    (int64_t)hist->slots[i].slot, (int64_t)hist->slots[i].count);
}

static void put_metric(struct rundb_writer *writer, int64_t metric, const struct lat_cell *cell)
{
	for (unsigned int i = 0; i < LAT_COUNTS; i++) {
		if (cell->counts[i] && counts__name(i))
			put(writer, ADD_ACCT, "iiti", writer->last_interval, metric,
			    counts__name(i), (int64_t)cell->counts[i]);
	}
	if (!writer->err)
		writer->err = sparse__set(&writer->metric, &cell->hist);
	put_hist(writer, metric, &writer->metric);
}

static void add_series(struct rundb_writer *writer, unsigned int probe, const struct run_key *key)
{
	struct known *known = &writer->known[probe];

	writer->last_series++;
	writer->err = vec__append(&known->series, &known->nr, &writer->last_series,
				  sizeof(writer->last_series));
	put(writer, ADD_SERIES, "iitit", writer->last_series, metric_id(probe, key->key.metric),
	    split__name(key->key.by), (int64_t)key->key.id, key->name);
}

static void put_data(struct rundb_writer *writer, unsigned int index, const struct run_probe *probe,
		     const struct run_data *data)
{
	const struct known *known = &writer->known[index];

	for (unsigned int i = 0; i < probe->nr_metrics; i++)
		put_metric(writer, metric_id(index, i), &data->metrics[i]);
	for (size_t i = 0; !writer->err && i < data->nr_keys; i++) {
		if (i == known->nr)
			add_series(writer, index, &data->keys[i]);
		if (!writer->err)
			put_hist(writer, known->series[i], &data->keys[i].hist);
	}
}

static void put_rows(struct rundb_writer *writer, const struct run *run, uint64_t start_ns)
{
	const struct table *table;
	char name[RUN_NAME];

	for (unsigned int i = 0; !writer->err && i < RUN_ALL_TABLES; i++) {
		table = run__nth_table(run, i, name);
		if (table)
			writer->err = rundb_table__insert(writer->rows[i], writer->last_interval,
							  start_ns, table);
	}
}

static int db__interval(struct writer *writer, const struct run *run,
			const struct run_interval *interval)
{
	struct rundb_writer *db = writer->state;

	begin(db);
	db->last_interval++;
	put(db, ADD_INTERVAL, "iii", db->last_interval, (int64_t)interval->start_ns,
	    (int64_t)interval->end_ns);
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		if (!run->probes[i].refused[0] && run->probes[i].nr_metrics)
			put_data(db, i, &run->probes[i], &interval->delta[i]);
	}
	put_rows(db, run, interval->rows_ns);
	return end(db);
}

/* A task may have changed its name since its first interval: the last name is kept. */
static void rename_series(struct rundb_writer *writer, unsigned int index,
			  const struct run_data *total)
{
	const struct known *known = &writer->known[index];

	for (size_t i = 0; i < known->nr && i < total->nr_keys; i++)
		put(writer, RENAME_SERIES, "tit", total->keys[i].name, known->series[i],
		    total->keys[i].name);
}

/* A sum that could not be checked has no numbers. */
static void put_check(struct rundb_writer *writer, unsigned int index,
		      const struct run_check *check)
{
	const struct rundb_checked events = { (uint64_t)index + 1, "events" };
	const struct rundb_checked time = { (uint64_t)index + 1, "time" };

	if (!check->source[0])
		return;
	put_row(writer, &rundb_checks,
		(const void *[]){ &events, check, check->events.known ? &check->events : NULL });
	put_row(writer, &rundb_checks,
		(const void *[]){ &time, check, check->time.known ? &check->time : NULL });
}

/* All structs of an array. */
static void put_all(struct rundb_writer *writer, const struct rundb_rows *rows, const void *first,
		    size_t nr, size_t size)
{
	sqlite3_stmt *insert = NULL;

	if (!writer->err)
		writer->err = rundb_rows__prepare(writer->db, &insert, rows);
	for (size_t i = 0; !writer->err && i < nr; i++)
		writer->err = rundb_rows__write(insert, rows,
						(const void *[]){ (const char *)first + i * size });
	sqlite3_finalize(insert);
}

/* Other programs leave run.db-shm there while the log exists; latscope does not need it. */
static void remove_index(const char *dir)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/run.db-shm", dir) < PATH_MAX)
		unlink(path);
}

static void end_log(struct rundb_writer *writer, const char *dir)
{
	const struct timespec while_reading = { .tv_nsec = 10000000 };

	for (int ms = 0; rundb_file__keep_readers_out(writer->db); ms += 10) {
		if (ms >= END_WAIT_MS)
			return;
		nanosleep(&while_reading, NULL);
	}
	if (!sql__exec(writer->db, "PRAGMA journal_mode=DELETE"))
		remove_index(dir);
	rundb_file__let_readers_in(writer->db);
}

/* SQLite continues to write into a file that was renamed or removed, and reports no error. */
static int check_file(const struct rundb_writer *writer, const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/run.db", dir) >= PATH_MAX || lstat(path, &st))
		return -ESTALE;
	return rundir__same_file(&st, &writer->file) ? 0 : -ESTALE;
}

static int db__close(struct writer *writer, const struct run *run)
{
	struct rundb_writer *db = writer->state;
	int err;

	begin(db);
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		put_probe(db, i, &run->probes[i], true);
		put_check(db, i, &run->probes[i].check);
		rename_series(db, i, &run->probes[i].total);
	}
	put_all(db, &rundb_frames, run->frames.frames, run->frames.nr, sizeof(*run->frames.frames));
	put_text(db, "frames_why", run->frames_why);
	put_number(db, "duration_ns", run->duration_ns);
	if (run->workload && run->workload_status != RUN_NOT_ENDED)
		put_number(db, "workload_status", (uint64_t)run->workload_status);
	if (run->workload_uncounted)
		put_number(db, "workload_uncounted", 1);
	else if (run->workload_outlived)
		put_number(db, "workload_outlived", run->workload_outlived);
	put_number(db, "complete", run->complete);
	err = end(db);
	/* Also after an error. If it fails (full disk, active reader), the log remains. */
	end_log(db, writer->dir);
	err = err ? err : check_file(db, writer->dir);
	disconnect(db);
	free_writer(db);
	writer->state = NULL;
	return err;
}

const struct writer_ops writer_db = {
	.name = "db",
	.open = db__open,
	.interval = db__interval,
	.close = db__close,
};

/* Overwrites one page in place, which needs no free space on the disk. */
int writer__retract_complete(const char *dir)
{
	char path[PATH_MAX], log[PATH_MAX];
	sqlite3 *db;
	int err;

	if (snprintf(path, sizeof(path), "%s/run.db", dir) >= PATH_MAX ||
	    snprintf(log, sizeof(log), "%s/run.db-wal", dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	err = rundb_file__open_to_write(&db, path);
	if (err)
		return err;
	/* If the log remained because of a reader, it is used. */
	if (access(log, F_OK))
		err = sql__exec(db, "PRAGMA journal_mode=MEMORY");
	if (!err)
		err = sql__exec(db, "UPDATE meta SET value = 0 WHERE name = 'complete'");
	sqlite3_close(db);
	return err;
}
