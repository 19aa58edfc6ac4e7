/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The histograms of cgroups that are exported, one per probe, metric and name. They are sums of the
 * intervals, not the run's totals, because
 *
 * - their number is limited, and a counter must never fall: the name (other) keeps what it has when
 *   a cgroup gets a histogram of its own, which begins at 0 then;
 * - a service that is restarted gets another cgroup with the same name, and goes on counting;
 * - cgroups that were gone before their name could be read are all (unknown).
 *
 * When there is no room, a new name replaces one that had no sample for ten minutes. If there is
 * none, its samples are in (other).
 */
#ifndef LATSCOPE_SERVE_SERIES_H
#define LATSCOPE_SERVE_SERIES_H

#include <core/run.h>
#include <host/names.h>

#define SERIES_OTHER "(other)"
#define SERIES_UNKNOWN "(unknown)"
#define SERIES_IDLE_NS 600000000000ULL

struct exported {
	char name[RUN_NAME];
	uint64_t cgroup; /* the last one of this name; 0: none */
	char *path; /* the whole path; NULL: unknown, or not a cgroup; owned */
	unsigned int probe, metric;
	uint64_t last_ns; /* when it last had a sample, since the window opened */
	struct sparse hist;
};

struct series {
	struct exported *all; /* owned; those that are (other) come first and stay */
	size_t nr;
	size_t most; /* of a metric */
	const struct names *names; /* for the paths; NULL: they are not known */
	struct {
		uint32_t *index; /* owned; by position of the key: 1 + index in `all`; 0: unknown */
		size_t nr;
		unsigned int generation; /* of the keys */
	} of_key[RUN_PROBES];
};

/* Zero it, then set `most` and `names`. Adds an interval. 0 or -ENOMEM. */
int series__add(struct series *series, const struct run *run, const struct run_interval *interval);

/* The path of a cgroup of that name; NULL: unknown. */
const char *series__path(const struct series *series, const char *name);

void series__free(struct series *series);

#endif
