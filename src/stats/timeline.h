/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The modules of a recording on one time line: when each had its slow events, whether two had them
 * in the same intervals, and whose they were. It is always the first metric of a module.
 * docs/validation.md says why it is done in this way, and how often it is wrong.
 */
#ifndef LATSCOPE_STATS_TIMELINE_H
#define LATSCOPE_STATS_TIMELINE_H

#include <store/rundb.h>

#include "ranks.h"

#define TIMELINE_SLOW 0.01 /* share of a module's events that is slow, if nothing else is asked */
#define TIMELINE_LEAST_INTERVALS 10
#define TIMELINE_LEAST_SLOW 5 /* intervals of a module that have slow events */
#define TIMELINE_PAIRS (RUN_PROBES * (RUN_PROBES - 1) / 2)

struct timeline_rules {
	uint64_t
		slow_ns; /* slow are events of so long or more; 0: the slowest 1 % of each module */
	double confidence; /* 0.95 */
	size_t lines; /* most lines that intervals are put together to; 0: each is one */
};

/* A module in an interval, or in a line of several. */
struct timeline_cell {
	uint64_t events, slow;
	uint64_t p99_ns, max_ns; /* 0 without events */
};

struct timeline_probe {
	const struct run_probe *probe;
	unsigned int index; /* in the run */
	uint64_t slow_ns; /* edge of a slot */
	uint64_t events, slow; /* of the whole recording */
	size_t empty; /* intervals without events */
	size_t worst; /* intervals that are in the worst quarter */
	struct timeline_cell *cells; /* by interval */
	struct timeline_cell *lines; /* by line */
	double *scores; /* by interval: what is correlated */
	bool *is_worst; /* by interval */
};

enum timeline_verdict { TIMELINE_NOT_SHOWN, TIMELINE_POSITIVE, TIMELINE_NEGATIVE };

struct timeline_pair {
	unsigned int a, b; /* of timeline.probes */
	struct ranks_correlation found;
	double adjusted; /* p, for the number of pairs; NAN: not tested, `why` says it */
	enum timeline_verdict verdict;
	size_t both; /* intervals that are in the worst quarter of both */
	double by_chance; /* how many these would be if the two had nothing to do with each other */
	char why[RUN_TEXT];
};

/* A process, cgroup, disk ... that has slow events. */
struct timeline_contributor {
	const struct run_key *key;
	unsigned int probe; /* of timeline.probes */
	uint64_t events, slow;
	uint64_t slow_correlated; /* of these, in intervals that are together */
};

struct timeline {
	struct timeline_rules rules;
	const struct run *run;
	size_t nr; /* intervals */
	uint64_t *start_ns, *end_ns; /* of each */
	size_t nr_longer; /* half as long again as asked for, or more: the recorder came late */
	uint64_t longest_ns;
	/* each: worst quarter of two modules whose verdict is TIMELINE_POSITIVE */
	bool *correlated;
	size_t nr_correlated;
	size_t nr_lines, per_line; /* the last line may have fewer */
	struct timeline_probe probes[RUN_PROBES]; /* those that were measured */
	unsigned int nr_probes;
	struct timeline_pair pairs[TIMELINE_PAIRS];
	unsigned int nr_pairs;
	struct timeline_contributor
		*contributors; /* by module and split, the most slow events first */
	size_t nr_contributors;
};

/* Errors are those of rundb.h and -ENOMEM. timeline__clear() is owed in any case. */
int timeline__read(struct timeline *timeline, struct rundb *db, const struct run *run,
		   const struct timeline_rules *rules);
void timeline__clear(struct timeline *timeline);

/* Slow events of a module within the intervals that are together. */
uint64_t timeline__slow_correlated(const struct timeline *timeline, unsigned int probe);

/* "not shown", "rise together", "one rises as the other falls" */
const char *timeline__word(enum timeline_verdict verdict);

#endif
