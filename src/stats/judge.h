/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a latency worse ON than OFF? Figure by figure, from the units of each side (unit.h). All work
 * is done on logarithms: what is estimated is the ratio ON / OFF, and units that differ by factors
 * become alike. docs/validation.md has the error rates.
 */
#ifndef LATSCOPE_STATS_JUDGE_H
#define LATSCOPE_STATS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <core/summary.h>

#include "observation.h"

#define JUDGE_LEAST_OBSERVATIONS 3 /* runs of a side, or batches */
/*
 * What run_spread is if nobody knows better: of pairs of runs of one load on one machine, whose own
 * load does not change much, at most 5 % then have a verdict. docs/validation.md.
 */
#define JUDGE_RUN_SPREAD_PERCENT 100
#define JUDGE_RUN_SPREAD (JUDGE_RUN_SPREAD_PERCENT / 100.0)

/*
 * Of latencies more is worse. Of rates it is only more: a machine that does more has more events,
 * and more slow ones among them.
 */
enum judge_statistic {
	JUDGE_TAIL, /* share of events at or beyond the threshold */
	JUDGE_QUANTILE, /* and the ones after it, as in figures.h */
	JUDGE_MEAN = JUDGE_QUANTILE + SUMMARY_QUANTILES,
	JUDGE_LATENCIES, /* before it: figures of events, of which there must be some */
	JUDGE_RATE = JUDGE_LATENCIES, /* events per second */
	JUDGE_TAIL_RATE, /* events of the tail per second */
	JUDGE_STATISTICS,
};

enum judge_verdict {
	JUDGE_NO_DIFFERENCE,
	JUDGE_WORSE,
	JUDGE_BETTER,
	JUDGE_MORE, /* of rates */
	JUDGE_FEWER,
	JUDGE_VERDICTS,
};

struct judge_rules {
	double confidence; /* 0.95 */
	double min_effect; /* 0.1: a ratio of up to 1.1, or down to 1 / 1.1, is no difference */
	uint32_t statistics; /* to be judged: mask of 1 << enum judge_figure */
	bool batches; /* units are batches of intervals, not runs */
	double run_spread; /* with batches: assumed relative spread from run to run */
};

struct judge_group {
	const struct observation *observations; /* each with events */
	size_t nr;
	size_t runs; /* that the units come from */
	const uint64_t *windows_ns; /* of struct side: also those without events */
	size_t nr_windows;
};

/*
 * NAN: there is none. The values of a side are of its typical run, the geometric mean over runs;
 * with batches those of all its events. Shares are in [0, 1], rates are per
 * second, the rest is ns.
 */
struct judged {
	double off, on;
	double ratio; /* ON / OFF */
	double low, high; /* its interval, of this figure alone */
	double p; /* two-sided, of this figure alone */
	double adjusted; /* for the number of figures that were judged */
	bool tested;
	enum judge_verdict verdict;
	char why[RUN_TEXT]; /* why there is no verdict, or a reason to doubt; may be empty */
};

extern const char *const judge__groups[2]; /* "OFF", "ON" */

bool judge__is_rate(unsigned int statistic);

/* "tail", "p99.9", "mean", "rate", "tail/s"; -EINVAL if there is no such figure. */
const char *judge__name(unsigned int statistic);
int judge__find(const char *name);

/* "worse", "better", "more", "fewer", "no difference shown". */
const char *judge__word(enum judge_verdict verdict);

/* The same of a figure that was to be judged; "cannot tell": it could not be, `why` says it. */
const char *judge__verdict(const struct judged *judged);

/* The logarithms of all figures of a histogram that has events, but for rates. */
void judge__logarithms(const struct lat_hist *hist, double logs[JUDGE_LATENCIES]);

/* All but adjusted and verdict. */
void judge__statistics(const struct judge_rules *rules, const struct judge_group *off,
		       const struct judge_group *on, struct judged statistics[JUDGE_STATISTICS]);

/*
 * The verdicts over a family of nr latencies, each with its JUDGE_FIGURES figures, corrected for
 * the number of figures tested by Holm's method. Returns that number, or -ENOMEM.
 */
ssize_t judge__verdicts(const struct judge_rules *rules, struct judged *const family[], size_t nr);

#endif
