/* SPDX-License-Identifier: BSD-2-Clause */
/* One side of a comparison: its recordings, read as units. Errors are those of rundb.h. */
#ifndef LATSCOPE_STAT_SIDE_H
#define LATSCOPE_STAT_SIDE_H

#include <stdbool.h>

#include <base/run.h>

#include "unit.h"

#define SIDE_WHOLE (-1) /* in place of an enum lat_by: no split */

struct side_recording {
	char *path;
	struct run *run; /* without keys */
	unsigned int intervals;
	unsigned int units;
};

/* One latency: of a metric, or of one key of it. Keys of the same name are one. */
struct side_series {
	char module[RUN_NAME];
	char metric[RUN_NAME];
	int by; /* enum lat_by or SIDE_WHOLE */
	char key[RUN_NAME];
	struct unit *units; /* those with events */
	size_t nr;
};

struct side {
	struct side_recording *recordings; /* in order of their names */
	size_t nr;
	/* Recordings or batches that units were looked for in: not every series has one of each. */
	uint64_t *windows_ns;
	size_t nr_windows;
	struct side_series **series;
	size_t nr_series;
	void *index; /* of the series by name; tsearch()'s */
	char failed[256]; /* end of the path that an error is about */
};

/*
 * `path` is a recording or has recordings directly in it. -ENOENT: neither. Nothing is read yet.
 * side__clear() is owed, after an error too.
 */
int side__find(struct side *side, const char *path);

/*
 * Reads them: a unit is a recording, or with `batches` a batch of its intervals (a recording that
 * is too short for batches is one). Of modules other than `module` (NULL: all) and splits outside
 * the mask `by` only what is in the runs is kept.
 */
int side__read(struct side *side, const char *module, uint32_t by, bool batches);

void side__clear(struct side *side);

/* NULL if there is none. */
const struct side_series *side__series(const struct side *side, const char *module,
				       const char *metric, int by, const char *key);

/*
 * What a key is called on both sides: a task without its number, which is another in every run.
 */
void side__key_name(const struct run_key *key, char name[RUN_NAME]);

/* NULL if the recording has no such module. */
const struct run_module *side__module(const struct run *run, const char *name);

#endif
