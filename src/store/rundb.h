/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading of run.db, which writer_db writes; docs/format.md describes it. Errors besides those of
 * the file system:
 *
 *   -ENOENT           there is no such file
 *   -EMEDIUMTYPE      it is not a recording of latscope
 *   -EPROTONOSUPPORT  it has another version of the format
 *   -EUCLEAN          it is damaged, or holds what latscope does not write
 *   -EBADFD           its log or journal is not a regular file
 *   -EROFS            another program left a journal, which only a writer could roll back
 *   -E2BIG            it has more keys than latscope writes
 *   -EOVERFLOW        it takes more work than its size explains
 */
#ifndef LATSCOPE_STORE_RUNDB_H
#define LATSCOPE_STORE_RUNDB_H

#include <core/run.h>

struct rundb;

/*
 * 1: the directory has a run.db, without which it is no recording, whatever else is in it; 0: it
 * has none; or why that cannot be told, as -EACCES.
 */
int rundb__is_in(const char *dir);

/*
 * Can SQLite open a run.db there? Its paths are shorter than the kernel's. The directory may be
 * missing yet. 0 or -ENAMETOOLONG.
 */
int rundb__check_path(const char *dir);

/*
 * `path` is the file or the directory of the recording. On success run__clear() is owed for *run.
 */
int rundb__load(const char *path, struct run *run);

/* The same, and the intervals can be walked. *run must stay until rundb__close(). */
int rundb__open(struct rundb **db, const char *path, struct run *run);
void rundb__close(struct rundb *db);

/* How many there are to be walked; -errno. */
ssize_t rundb__intervals(struct rundb *db);

/*
 * 1: *interval is the next, in order of time, its data good until the next call; 0: that was the
 * last; -errno. All have the keys of the run's totals, in their order, and the tables of the
 * modules hold its rows. NULL passes one over.
 */
int rundb__next(struct rundb *db, struct run_interval *interval);

/*
 * The next is the first again. Without `keys` there are none, and no counts beside the histograms,
 * which is faster.
 */
void rundb__rewind(struct rundb *db, bool keys);

/* The reason, for people, of an error of these; falls back on strerror(). */
const char *rundb__explain(int err);

#endif
