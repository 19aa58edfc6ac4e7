/* SPDX-License-Identifier: BSD-2-Clause */
/* One group of a comparison: its recordings, read as observations. Errors of rundb.h. */
#ifndef LATSCOPE_STATS_GROUP_H
#define LATSCOPE_STATS_GROUP_H

#include <stdbool.h>

#include <core/run.h>

#include "observation.h"
#include "shares.h"

struct group_recording {
	char *path;
	struct run *run; /* without keys */
	unsigned int intervals;
	unsigned int observations;
};

/* One latency: a metric, or one of its keys. Keys with the same name share a series. */
struct group_series {
	char probe[RUN_NAME];
	char metric[RUN_NAME];
	int by; /* enum lat_by or GROUP_WHOLE */
	char key[RUN_NAME];
	struct observation *observations; /* those with events */
	size_t nr;
};

struct group {
	struct group_recording *recordings; /* in order of their names */
	size_t nr;
	/* All recordings or batches; a series need not have an observation in each. */
	uint64_t *windows_ns;
	size_t nr_windows;
	struct group_series **series;
	size_t nr_series;
	void *index; /* of the series by name, for tsearch() */
	struct shares shares; /* of the tables that have parts of a whole */
	char failed[256]; /* the end of the path that caused an error */
};

/*
 * `path` is a recording or a directory of recordings; -ENOENT: neither. Reads nothing yet. The
 * caller must always call group__clear().
 */
int group__find(struct group *group, const char *path);

/* The same for all of these. */
int group__find_all(struct group *group, const char *const *paths, size_t nr);

/*
 * Reads the recordings. An observation is a recording, or with `batches` a batch of its intervals
 * (a recording too short for batches is one). Only for the probe `probe` (NULL: all) and the splits
 * in the mask `by`; the runs have everything.
 */
int group__read(struct group *group, const char *probe, uint32_t by, bool batches);

void group__clear(struct group *group);

/* NULL if there is none. */
const struct group_series *group__series(const struct group *group, const char *probe,
					 const char *metric, int by, const char *key);

/*
 * The name that identifies a key in both groups: a task without its ID, which differs in each run.
 */
void group__key_name(const struct run_key *key, char name[RUN_NAME]);

#endif
