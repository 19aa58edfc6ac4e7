/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A comparison of two groups of recordings. With JUDGE_LEAST_OBSERVATIONS or more recordings in
 * both groups an observation is a run, otherwise a batch of a run's intervals.
 */
#ifndef LATSCOPE_STATS_COMPARISON_H
#define LATSCOPE_STATS_COMPARISON_H

#include <core/tails.h>

#include "group.h"
#include "judge.h"
#include "notes.h"
#include "inference.h"
#include "share_judge.h"

struct comparison_rules {
	struct judge_rules judge; /* batches is set by comparison__run() */
	const char *probe; /* only this one; NULL: all */
	uint32_t by; /* splits to compare: mask of 1 << enum lat_by; shares: 0 is by process */
	unsigned int top; /* maximum keys of a split; 0: all */
	struct tails tails; /* thresholds; not chosen: the recordings' own */
};

/* All events of a group. */
struct comparison_total {
	uint64_t events, tail, sum_ns, max_ns;
	uint64_t buckets[HIST_LOG2_BUCKETS]; /* events by log2 bucket */
	uint64_t duration_ns; /* of all its recordings */
	struct share_interval wilson; /* of the tail's share */
};

/* The threshold of the tail of a probe, for both groups. */
struct comparison_tail {
	char probe[RUN_NAME];
	uint64_t ns; /* 0: the tail cannot be compared */
	char why[RUN_TEXT]; /* then */
};

/* One latency of a probe, or of a key. */
struct comparison_row {
	const struct run_probe *probe; /* as in the first recording of OFF */
	const struct comparison_tail *tail;
	unsigned int metric;
	int by; /* enum lat_by or GROUP_WHOLE */
	const char *key;
	struct comparison_total total[2];
	struct judged statistics[JUDGE_STATISTICS];
};

struct comparison_refusal {
	char probe[RUN_NAME];
	char why[RUN_TEXT];
};

struct comparison {
	struct comparison_rules rules;
	struct group groups[2]; /* OFF, ON */
	struct comparison_tail tails[RUN_PROBES]; /* of those that are compared */
	unsigned int nr_tails;
	struct comparison_row *rows; /* by probe, metric, split, then the most time first */
	size_t nr;
	struct share_changes shares;
	struct comparison_refusal refusals[RUN_PROBES];
	unsigned int nr_refusals;
	struct notes warnings;
	size_t family; /* statistics that were tested */
	size_t untested; /* statistics that should have been tested, but could not be */
	size_t verdicts[JUDGE_VERDICTS]; /* how many of each */
};

/*
 * Errors of rundb.h, with the path in groups[i].failed, and -ENODATA: nothing can be compared, the
 * refusals say why. The caller must always call comparison__clear().
 */
int comparison__run(struct comparison *comparison, const struct comparison_rules *rules,
		    const char *off, const char *on);

/* Recordings, or directories of recordings, that are a group together. */
struct comparison_paths {
	const char *const *paths;
	size_t nr;
};

int comparison__run_all(struct comparison *comparison, const struct comparison_rules *rules,
			const struct comparison_paths groups[2]);

void comparison__clear(struct comparison *comparison);

#endif
