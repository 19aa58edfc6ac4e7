/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes rose with the slow events of a probe? The rows of rmid in the same recording say
 * how much CPU time each process had in each interval and, with counters or RDT, its cache misses,
 * occupancy and memory traffic.
 */
#ifndef LATSCOPE_PROBES_RMID_VIEW_RISING_H
#define LATSCOPE_PROBES_RMID_VIEW_RISING_H

#include <stdio.h>

#include <stats/correlation.h>

struct json_object;

#define RISING_GROUPS 24 /* those with the most CPU time in the recording */
#define RISING_MEASURES 4
#define RISING_SERIES (RISING_GROUPS * RISING_MEASURES)

/* The processes of one name, since a command may be many short ones. */
struct rising_group {
	char comm[RUN_NAME];
	char name[RUN_NAME]; /* "stress (1234)", "cc1 (87 processes)" */
	int64_t pid; /* of one of them; 0: unknown */
	size_t processes;
	double cpu_ns;
};

/* The name of a series is what it measures: "CPU time". */
struct rising {
	const struct timeline *timeline;
	struct rising_group groups[RISING_GROUPS];
	unsigned int nr_groups;
	struct correlation_series series[RISING_SERIES]; /* `key` is the group */
	unsigned int nr;
	bool is_incomplete; /* records of rmid were lost: values may be too low */
};

/* Nothing without rmid. The caller must always call rising__clear(). */
int rising__read(struct rising *rising, const struct timeline *timeline, struct rundb *db);
void rising__clear(struct rising *rising);

/* The processes that rose, as text, and as "rising" of the object. Nothing without rmid. */
void rising__print(FILE *out, const struct rising *rising);
void rising__add_json(struct json_object *to, const struct rising *rising);

/* Did this value rise with the slow events of this probe? */
bool rising__rose(const struct correlation_pair *pair);

#endif
