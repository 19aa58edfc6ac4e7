/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes of a recording on one time line: when each had slow events, whether two probes had
 * them in the same intervals, and which keys contributed. Only the first metric of each probe.
 * docs/validation.md has the reasons and the error rates.
 */
#ifndef LATSCOPE_STATS_TIMELINE_H
#define LATSCOPE_STATS_TIMELINE_H

#include <store/rundb.h>

#include "ranks.h"

#define TIMELINE_SLOW 0.01 /* default share of a probe's events that counts as slow */
#define TIMELINE_LEAST_INTERVALS 10
#define TIMELINE_LEAST_SLOW 5 /* intervals of a probe with slow events */
#define TIMELINE_PAIRS (RUN_PROBES * (RUN_PROBES - 1) / 2)

struct timeline_rules {
	uint64_t slow_ns; /* events this long or longer are slow; 0: the slowest 1 % */
	double confidence; /* 0.95 */
	size_t lines; /* maximum lines, of several intervals each; 0: one line per interval */
};

/* A probe in an interval, or in a line of several. */
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
	unsigned int a, b; /* indices into timeline.probes */
	struct ranks_correlation found;
	double adjusted; /* p, for the number of pairs; NAN: not tested, see `why` */
	enum timeline_verdict verdict;
	size_t both; /* intervals that are in the worst quarter of both */
	double by_chance; /* expected number if the two were independent */
	char why[RUN_TEXT];
};

/* A process, cgroup, disk ... that has slow events. */
struct timeline_contributor {
	const struct run_key *key;
	unsigned int probe; /* index into timeline.probes */
	uint64_t events, slow;
	uint64_t slow_correlated; /* of these, in correlated intervals */
};

struct timeline {
	struct timeline_rules rules;
	const struct run *run;
	size_t nr; /* intervals */
	uint64_t *start_ns, *end_ns; /* of each */
	size_t nr_longer; /* at least 50 % longer than requested: the recorder came late */
	uint64_t longest_ns;
	bool *correlated; /* in the worst quarter of two probes with TIMELINE_POSITIVE */
	size_t nr_correlated;
	size_t nr_lines, per_line; /* the last line may have fewer */
	struct timeline_probe probes[RUN_PROBES]; /* those that were measured */
	unsigned int nr_probes;
	struct timeline_pair pairs[TIMELINE_PAIRS];
	unsigned int nr_pairs;
	struct timeline_contributor
		*contributors; /* by probe and split, the most slow events first */
	size_t nr_contributors;
};

/* Errors of rundb.h and -ENOMEM. The caller must always call timeline__clear(). */
int timeline__read(struct timeline *timeline, struct rundb *db, const struct run *run,
		   const struct timeline_rules *rules);
void timeline__clear(struct timeline *timeline);

/* Slow events of a probe in the correlated intervals. */
uint64_t timeline__slow_correlated(const struct timeline *timeline, unsigned int probe);

/* "no correlation shown", "positive correlation", "negative correlation" */
const char *timeline__word(enum timeline_verdict verdict);

#endif
