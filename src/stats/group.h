/* SPDX-License-Identifier: BSD-2-Clause */
/* One side of a comparison: its recordings, read as units. Errors are those of rundb.h. */
#ifndef LATSCOPE_STATS_GROUP_H
#define LATSCOPE_STATS_GROUP_H

#include <stdbool.h>

#include <core/run.h>

#include "observation.h"

#define GROUP_WHOLE (-1) /* in place of an enum lat_by: no split */

struct group_recording {
	char *path;
	struct run *run; /* without keys */
	unsigned int intervals;
	unsigned int observations;
};

/* One latency: of a metric, or of one key of it. Keys of the same name are one. */
struct group_series {
	char probe[RUN_NAME];
	char metric[RUN_NAME];
	int by; /* enum lat_by or SIDE_WHOLE */
	char key[RUN_NAME];
	struct observation *observations; /* those with events */
	size_t nr;
};

struct group {
	struct group_recording *recordings; /* in order of their names */
	size_t nr;
	/* Recordings or batches that units were looked for in: not every series has one of each. */
	uint64_t *windows_ns;
	size_t nr_windows;
	struct group_series **series;
	size_t nr_series;
	void *index; /* of the series by name; tsearch()'s */
	char failed[256]; /* end of the path that an error is about */
};

/*
 * `path` is a recording or has recordings directly in it. -ENOENT: neither. Nothing is read yet.
 * side__clear() is owed, after an error too.
 */
int group__find(struct group *group, const char *path);

/*
 * Reads them: a unit is a recording, or with `batches` a batch of its intervals (a recording that
 * is too short for batches is one). Of modules other than `module` (NULL: all) and splits outside
 * the mask `by` only what is in the runs is kept.
 */
int group__read(struct group *group, const char *probe, uint32_t by, bool batches);

void group__clear(struct group *group);

/* NULL if there is none. */
const struct group_series *group__series(const struct group *group, const char *probe,
					 const char *metric, int by, const char *key);

/*
 * What a key is called on both sides: a task without its number, which is another in every run.
 */
void group__key_name(const struct run_key *key, char name[RUN_NAME]);

/* NULL if the recording has no such module. */
const struct run_probe *group__probe(const struct run *run, const char *name);

#endif
