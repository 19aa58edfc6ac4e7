/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the reader and the writer of run.db share; rundb.h is for everybody. */
#ifndef LATSCOPE_STORE_RUNDB_INTERNAL_H
#define LATSCOPE_STORE_RUNDB_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include <core/run.h>

/* ---- rundb_file.c ---- */

/*
 * How SQLite opens the files of run.db:
 *
 * - by the directory's descriptor, so that nobody can redirect it;
 * - without run.db-shm: on a full file system with small blocks, access to it would raise SIGBUS;
 * - for reading, without writing anything anywhere.
 *
 * The index of the log, which is normally run.db-shm, is in private memory instead. SQLite does
 * this only if it has the database to itself (locking_mode=EXCLUSIVE), but readers must be able to
 * read a recording that is still running. So no process takes more than a shared lock. The recorder
 * folds the log in only if it gets the exclusive lock, that is, when there is no reader. This works
 * with readers of other programs, too, such as sqlite3.
 */

/* 0 or -errno. A file to be written must exist. The connection is for one thread. */
int rundb_file__open_to_write(sqlite3 **db, const char *path);
int rundb_file__open_to_read(sqlite3 **db, const char *path);

/*
 * Returns -EBUSY while there is a reader. After success, no reader can start until
 * let_readers_in().
 */
int rundb_file__keep_readers_out(sqlite3 *db);
void rundb_file__let_readers_in(sqlite3 *db);

/* ---- rundb_check.c ---- */

/*
 * Opens a run.db that may come from an attacker. Such a file can hold more than data: a view in
 * place of a table, code that runs when a row is read, or rows that take days to join. Everything
 * that latscope does not write is refused, and reading takes no more work and memory than the size
 * of the file explains. Nothing is written anywhere. Errors are those of rundb.h.
 */

/* Must not move until the database is closed. */
struct rundb_budget {
	uint64_t steps; /* steps of SQLite's virtual machine that are still allowed */
	uint64_t all; /* at the beginning, and each time that reading starts again */
};

/* `path` is the file or the directory of the recording. */
int rundb_check__open(sqlite3 **db, const char *path, struct rundb_budget *budget);

/*
 * Is it a recording of a supported version, and does it contain only objects that latscope writes?
 */
int rundb_check__content(sqlite3 *db);

/* ---- rundb_span.c ---- */

/* The intervals of run.db that are read: all, or those of a span of time. */
struct rundb_span {
	bool is_set; /* false: the whole recording */
	uint64_t from_ns, to_ns; /* since the window opened */
	int64_t first, last; /* IDs of the intervals */
};

/*
 * Finds the intervals whose middle is in the span: spans that follow each other share none. Fills
 * in the run's span and duration. 0, -ENODATA: there is none; other errors of rundb.h.
 */
int rundb_span__find(sqlite3 *db, struct rundb_span *span, struct run *run);

/* Prepares "`select` WHERE `column` is in the span `order`". */
int rundb_span__prepare(sqlite3 *db, const struct rundb_span *span, sqlite3_stmt **statement,
			const char *select, const char *column, const char *order);

/* Removes what is known only of the whole recording. The probe has no tables yet. */
void rundb_span__forget(struct run_probe *probe);

/* ---- rundb_table.c ---- */

/*
 * The tables of probes: run__table() names them, and their columns are described in table_column.
 */

int rundb_table__create(sqlite3 *db, const char *name, const struct table *table);

/* Prepares the statement for rundb_table__insert(). */
int rundb_table__prepare(sqlite3 *db, sqlite3_stmt **insert, const char *name,
			 const struct table *table);

/* Writes all rows of the table as rows of one interval, with times since start_ns. */
int rundb_table__insert(sqlite3_stmt *insert, int64_t interval, uint64_t start_ns,
			const struct table *table);

/*
 * Makes an empty table with the columns that the file declares. *table is NULL if it declares none.
 */
int rundb_table__load(sqlite3 *db, const char *name, struct table **table);

/*
 * Adds up the rows of the span in the table's sketch. `declared`: see rundb_table__load(); columns
 * that the file lacks are unknown. Before each fold, it calls `each` while the table holds the
 * rows, which may return an error; NULL: no call.
 */
int rundb_table__top_k(sqlite3 *db, const struct rundb_span *span, const char *name,
		       const struct table *declared, struct table *table,
		       int (*each)(void *context), void *context);

/* Both: the table of that name with the sums of its rows; *table is NULL if there is none. */
int rundb_table__sum(sqlite3 *db, const struct rundb_span *span, const char *name,
		     struct table **table);
/* Loads the probe's table and its further ones, of which the file may have none. */
int rundb_table__load_own(sqlite3 *db, const struct rundb_span *span, struct run_probe *probe);

/* Prepares the statement for rundb_table__read(). */
int rundb_table__select(sqlite3 *db, sqlite3_stmt **select, const char *name,
			const struct table *table);

/* Replaces the rows of the table by those of an interval. */
int rundb_table__read(sqlite3_stmt *select, int64_t interval, struct table *table);

/* ---- rundb_why.c ---- */

/* Why samples were slow: the tables, if the probe has them; otherwise frees the totals. */
int rundb_why__read(sqlite3 *db, const struct rundb_span *span, struct run_probe *probe);

/* ---- rundb_read.c ---- */

/* A series, and the metric or key that gets its samples. */
struct rundb_series {
	int64_t id;
	unsigned int probe;
	unsigned int metric;
	bool total;
	size_t key; /* unless `total` */
	uint64_t events; /* in the whole recording, from the sums */
};

/* The parts of an interval that are read; the last ones are rows of tables. */
enum rundb_part {
	RUNDB_PART_SLOTS,
	RUNDB_PART_SUMS,
	RUNDB_PART_ACCT,
	RUNDB_PART_ROWS,
	RUNDB_PARTS = RUNDB_PART_ROWS + RUN_ALL_TABLES
};

struct rundb {
	sqlite3 *db;
	struct rundb_budget budget;
	struct rundb_span span;
	struct run *run;
	uint64_t probe_ids[RUN_PROBES];
	struct {
		int64_t id;
		unsigned int probe;
		unsigned int metric;
	} metrics[RUN_PROBES * RUN_METRICS];
	unsigned int nr_metrics;
	struct rundb_series *series; /* sorted by id */
	size_t nr_series;
	int64_t last_total; /* the largest ID of the series that are a whole metric */
	struct run_data *deltas; /* one per probe: the last interval that was read */
	uint64_t **filled; /* addresses of the numbers in the deltas that are not 0 */
	size_t nr_filled;
	sqlite3_stmt *intervals;
	/* for one interval: prepared once, because there may be a million */
	sqlite3_stmt *parts[RUNDB_PARTS];
	uint64_t tail_ns; /* of all probes, in the first recordings of a version */
	uint64_t last_start_ns; /* the last interval that was read */
	bool without_keys; /* of the intervals */
};

/* ---- rundb_head.c ---- */

/* Run, labels, probes, metrics, and the series, into db->run. Errors of rundb.h. */
int rundb_head__read(struct rundb *db);

/* What was known at the end: the kernel's account, lifetimes, names for stacks. */
int rundb_head__read_ends(struct rundb *db);

/* The index in db->metrics, or -EUCLEAN. */
int rundb_head__metric(const struct rundb *db, int64_t id);

#endif
