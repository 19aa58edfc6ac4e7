/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output of a recording. A writer is opened before the window, called for every interval, and
 * closed after the last one with the totals. All functions return 0 or -errno and print nothing.
 * close() always frees what open() allocated; it is not called after a failed open(). Those that a
 * writer does not need are NULL.
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
	const char *shown; /* the same for messages; NULL: use dir */
	bool no_sync; /* db: never wait for the disk; after a power cut the file may be damaged */
	int log_pages; /* db: length of the log at a checkpoint, in pages of 4 KiB; 0: 64 MB */
	unsigned int top; /* live: lines of a table; 0: all */
	uint32_t more_by; /* live: see text_style */
	void *state; /* the writer's own; live: a FILE *, stdout if NULL at open() */
};

/* open() of writers that write files only after the window. */
int writer__need_dir(struct writer *writer, const struct run *run);

extern const struct writer_ops writer_db; /* run.db: one transaction per interval */

/* Marks run.db as incomplete: a writer failed after writer_db was closed. */
int writer__retract_complete(const char *dir);

extern const struct writer_ops writer_csv; /* <probe>.csv, and <probe>-<metric>.csv */
extern const struct writer_ops writer_rows; /* <probe>.csv of a probe with a table */
extern const struct writer_ops writer_summary; /* <probe>.summary.json */
extern const struct writer_ops writer_live; /* a line per interval to stdout, for -i */
extern const struct writer_ops writer_live_csv; /* the rows of a probe with a table */
extern const struct writer_ops writer_live_json; /* the same as NDJSON */

#endif
