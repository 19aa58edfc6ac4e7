/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies the last minutes of a flight recorder into one recording: for the time that the fine level
 * has, its intervals, before that those of the coarse level. The recorder may go on meanwhile, or
 * may be dead: it is only read. A time that no segment has is missing in the recording, too.
 *
 * Done in steps, so that a service can answer requests in between.
 */
#ifndef LATSCOPE_SERVE_SNAPSHOT_H
#define LATSCOPE_SERVE_SNAPSHOT_H

#include <core/run.h>
#include <store/recording.h>

struct snapshot;

/*
 * `dir` is the directory of a ring, only used by this call. -ENOENT: it has no segment; errors of
 * rundb.h. The end is now, or the last interval if the recorder is dead.
 */
int snapshot__new(struct snapshot **snapshot, int dir, uint64_t last_ns);
void snapshot__free(struct snapshot *snapshot); /* NULL is allowed */

/* What the recording says of itself. Labels can be added before the first step. */
struct run *snapshot__run(struct snapshot *snapshot);

/* Segments so far that are damaged. What can be read of them is copied. */
size_t snapshot__damaged(const struct snapshot *snapshot);

/* Copies some intervals. 1: there are more; 0: the recording is complete; or -errno. */
int snapshot__step(struct snapshot *snapshot, struct recording *recording);

/* Calls snapshot__step() for about 10 ms; the service's requests and probes wait meanwhile. */
int snapshot__work(struct snapshot *snapshot, struct recording *recording);

/*
 * Opens the newest ring below `path`; or `path` itself if it is one. The descriptor, -ENOENT: there
 * is none, or another -errno.
 */
int snapshot__find(const char *path);

#endif
