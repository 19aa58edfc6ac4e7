/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder: the last five minutes in intervals of the session (100 ms), and the last
 * hour in intervals of a second, in a directory that does not grow beyond a size.
 *
 * It is a ring of segments: short recordings in the format of every recording (docs/format.md), of
 * which the oldest are deleted. So there is one writer and one reader, what survives a kill -9 or a
 * full disk is known, and every command can read a segment, too. A ring in one file would have to
 * be written over in place, and needs a recovery of its own.
 *
 *   DIR/20261120T231500Z-ring/fine-000001/run.db
 *   DIR/20261120T231500Z-ring/coarse-000001/run.db
 *
 * Fine segments begin and end where a coarse interval does. Each process has a ring of its own. It
 * deletes those before it, except what fits into half of the size. Times are of CLOCK_MONOTONIC:
 * steps of the clock only change the names.
 *
 * Nothing here is fatal for the measurement. An interval that cannot be written is counted; after a
 * second the recorder deletes its oldest segment and begins a new one.
 */
#ifndef LATSCOPE_SERVE_RECORDER_H
#define LATSCOPE_SERVE_RECORDER_H

#include <core/run.h>
#include <store/recording.h>

struct recorder;

enum recorder_level { RECORDER_FINE, RECORDER_COARSE, RECORDER_LEVELS };

#define RECORDER_LEAST (16ULL << 20) /* bytes */
#define RECORDER_DIR "/var/lib/latscope"
#define RECORDER_LABEL "ring" /* of the directory's name */

struct recorder_state {
	uint64_t bytes; /* of all segments of this ring */
	uint64_t span_ns[RECORDER_LEVELS]; /* from the oldest interval to now */
	uint64_t lost; /* intervals that could not be written */
	int err; /* of the last one; 0: the last one was written */
};

/* The name of a level, as in the names of segments. */
const char *recorder__level(enum recorder_level level);

/*
 * Makes the directory of a ring below `parent`, and deletes old rings there. `bytes` is the size of
 * all. To be called before privileges are dropped; the session then needs `recording`. 0 or an
 * error of rundir__create().
 */
int recorder__new(struct recorder **recorder, struct run *run, struct recording *recording,
		  const char *parent, uint64_t bytes);
void recorder__free(struct recorder *recorder); /* NULL is allowed */

/* Adds an interval. `whole`: it ends an interval of the coarse level. 0 or -ENOMEM. */
int recorder__add(struct recorder *recorder, const struct run_interval *interval, bool whole);

/* The sum of the interval that the last call with `whole` ended, one per probe. */
const struct run_data *recorder__sum(const struct recorder *recorder, uint64_t *start_ns);

/* Ends the segments, so that they are complete. */
void recorder__end(struct recorder *recorder);

struct recorder_state recorder__state(const struct recorder *recorder);

#endif
