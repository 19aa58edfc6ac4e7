/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a recording goes. A writer is opened before the window, told of every interval, and closed
 * after the last with the totals. All return 0 or -errno and print nothing of their own.
 * close() frees what open() took, whatever it returns; after a failed open() it is not called.
 */
#ifndef LATSCOPE_STORE_WRITER_H
#define LATSCOPE_STORE_WRITER_H

#include <stdio.h>

#include <core/run.h>

struct writer;

struct writer_ops {
	const char *name;
	int (*open)(struct writer *writer, const struct run *run);
	int (*interval)(struct writer *writer, const struct run *run,
			const struct run_interval *interval);
	int (*close)(struct writer *writer, const struct run *run);
};

struct writer {
	const struct writer_ops *ops;
	const char *dir; /* the run's directory; NULL for those that write to a stream */
	const char *shown; /* that, as people know it; NULL: the same */
	int log_pages; /* db: the log is folded in at so many of 4 KiB; 0: at 64 MB */
	void *state; /* the writer's own; live: a FILE *, stdout unless put there before open() */
};

/* For writers that write a directory's files after the window and nothing before. */
int writer__need_dir(struct writer *writer, const struct run *run);
int writer__skip_interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval);

extern const struct writer_ops writer_db; /* run.db: one transaction an interval */

/* A writer failed after writer_db was closed: run.db must not say that all is complete. */
int writer__retract_complete(const char *dir);

extern const struct writer_ops writer_csv; /* <module>.csv, and <module>-<metric>.csv */
extern const struct writer_ops writer_rows; /* <module>.csv of a module that has a table */
extern const struct writer_ops writer_summary; /* <module>.summary.json */
extern const struct writer_ops writer_live; /* a line an interval to stdout, for -i */
/* What writer_live prints of one module, for who prints another one in a way of its own. */
void writer__live_probe(FILE *out, const struct run *run, unsigned int at,
			const struct run_interval *interval);
extern const struct writer_ops writer_live_csv; /* the rows of a module that has a table */
extern const struct writer_ops writer_live_json; /* the same as NDJSON */

#endif
