/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of run.db whose rows are structs of struct run. One list of columns makes the table,
 * writes its rows, reads them, and checks those of a file that latscope did not write: 0, -EUCLEAN
 * or another error of rundb.h.
 */
#ifndef LATSCOPE_STORE_RUNDB_ROWS_H
#define LATSCOPE_STORE_RUNDB_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include <core/run.h>

#define RUNDB_FIRST 1 /* version of latscope 0.1; version 2 was never released */

enum rundb_kind {
	RUNDB_NUMBER, /* uint64_t; in an undamaged file it is present and not negative */
	RUNDB_SIGNED, /* int64_t */
	RUNDB_LIMIT, /* uint64_t; UINT64_MAX, no limit, is stored as -1 */
	RUNDB_FLAG, /* bool */
	RUNDB_SPLITS, /* uint32_t: mask of 1 << enum lat_by, stored as a list of names */
	RUNDB_ADDRESS, /* uint64_t, stored as hexadecimal digits */
	RUNDB_TEXT, /* an array; null is read as empty, and a text that is too long is cut */
	RUNDB_OPTIONAL, /* the same, but empty is stored as null */
	RUNDB_POINTER, /* const char *; NULL is stored as null; read: allocated */
};

struct rundb_column {
	const char *name;
	enum rundb_kind kind;
	unsigned int part; /* number of the struct that has it */
	size_t offset, size; /* in that */
	const char *first; /* its name in version 1; NULL: the same; "": there is none */
	bool later; /* the first recordings of a version lack it: then it is 0 or empty */
	size_t most; /* bytes of a RUNDB_POINTER */
};

/* The first fields of a struct rundb_column. */
#define RUNDB_COLUMN(of_name, of_kind, of_part, type, member)          \
	.name = (of_name), .kind = RUNDB_##of_kind, .part = (of_part), \
	.offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

struct rundb_rows {
	const char *name, *first_name; /* of the table; in version 1, NULL: the same */
	const char *key; /* the end of CREATE TABLE */
	const char *which, *first_which; /* the end of SELECT; in version 1, NULL: the same */
	const struct rundb_column *columns;
	unsigned int nr;
	unsigned int needed; /* mask of the parts that each row of a sound file has */
};

int rundb_rows__create(sqlite3 *db, const struct rundb_rows *rows);

/*
 * Writes a row, in place of one that has the same key. `parts` has the structs; of a part that is
 * NULL, all columns are null.
 */
int rundb_rows__prepare(sqlite3 *db, sqlite3_stmt **insert, const struct rundb_rows *rows);
int rundb_rows__write(sqlite3_stmt *insert, const struct rundb_rows *rows,
		      const void *const parts[]);

/* Prepares the statement that reads the rows, from a file of any version. NULL: no parameter. */
int rundb_rows__select(sqlite3 *db, sqlite3_stmt **row, const struct rundb_rows *rows,
		       const char *parameter);

/*
 * Reads a row. Returns a mask with 1 << number for each part that the row has. A part is missing if
 * its first column is null; its fields are then 0 or empty. -EUCLEAN if a needed part is missing.
 * The caller must always call rundb_rows__forget(), which frees the texts.
 */
int rundb_rows__read(sqlite3_stmt *row, const struct rundb_rows *rows, void *const parts[]);
void rundb_rows__forget(const struct rundb_rows *rows, void *const parts[]);

/* ---- single columns ---- */

int rundb_row__number(sqlite3_stmt *row, int column, uint64_t *value);
int rundb_row__field(sqlite3_stmt *row, int index, const struct rundb_column *column, void *part);

/* A text that is null or too long is shortened, not refused. */
void rundb_row__text(sqlite3_stmt *row, int column, char *text, size_t size);

/* ---- rundb_schema.c: the tables; docs/format.md describes them ---- */

/* Parts: `id`; the label. */
extern const struct rundb_rows rundb_labels;

/*
 * Parts: `id`; the probe; the same, if it is known how it ended; then the age of its oldest wait in
 * flight, -1: unknown; why its samples were slow, if that is known.
 */
enum { PROBE_ID, PROBE_BEGIN, PROBE_END, PROBE_OLDEST, PROBE_WHY, PROBE_PARTS };
extern const struct rundb_rows rundb_probes;

/* Parts: this; the metric. */
struct rundb_metric {
	uint64_t id, probe;
};
extern const struct rundb_rows rundb_metrics;

/* Parts: this; source and reason; the sums, if they could be checked. */
struct rundb_checked {
	uint64_t probe;
	char sum[8]; /* "events" or "time" */
};
extern const struct rundb_rows rundb_checks;

/* One part: struct frame. */
extern const struct rundb_rows rundb_frames;

/* Columns of the tables of probes. Parts: this; the column. */
struct rundb_declared {
	const char *table;
	uint64_t position;
	const char *kind;
};
extern const struct rundb_rows rundb_columns;

#endif
