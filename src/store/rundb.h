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
 * 1: the directory has a run.db, so it is a recording; 0: it has none; -errno: cannot tell, such as
 * -EACCES.
 */
int rundb__is_in(const char *dir);

/*
 * Can SQLite open a run.db in this directory? SQLite's limit for paths is lower than the kernel's.
 * The directory need not exist. 0 or -ENAMETOOLONG.
 */
int rundb__check_path(const char *dir);

/*
 * `path` is the file or the directory of the recording. After success the caller must call
 * run__clear().
 */
int rundb__load(const char *path, struct run *run);

/* The same, and the intervals can be walked. *run must stay until rundb__close(). */
int rundb__open(struct rundb **db, const char *path, struct run *run);

/*
 * The same of a part: only the intervals whose middle is in [from_ns, to_ns), also for
 * rundb__intervals() and rundb__next(). run->span_to_ns is then not 0, and what is known only of
 * the whole recording is absent: waits in flight, recursion_missed, the kernel's account and
 * lifetimes. -ENODATA: there is no such interval. 0 and UINT64_MAX: the whole recording.
 */
int rundb__open_span(struct rundb **db, const char *path, struct run *run, uint64_t from_ns,
		     uint64_t to_ns);
void rundb__close(struct rundb *db);

/* The number of intervals, or -errno. */
ssize_t rundb__intervals(struct rundb *db);

/*
 * 1: *interval is the next in order of time, valid until the next call; 0: no more; -errno. Its
 * keys are those of the run's totals, in the same order; the tables of the probes hold its rows.
 * NULL skips one.
 */
int rundb__next(struct rundb *db, struct run_interval *interval);

/*
 * Starts again with the first interval. Without `keys` the intervals have no keys and no counts,
 * only the histograms of metrics, which is faster.
 */
void rundb__rewind(struct rundb *db, bool keys);

/* The message for an error of these functions; strerror() for all others. */
const char *rundb__explain(int err);

#endif
