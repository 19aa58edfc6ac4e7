/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a latency worse ON than OFF? Tests each statistic, from the observations of both groups. All
 * calculations use logarithms: the ratio ON / OFF is estimated, and multiplicative variation
 * becomes additive. docs/validation.md has the error rates.
 */
#ifndef LATSCOPE_STATS_JUDGE_H
#define LATSCOPE_STATS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <core/summary.h>

#include "observation.h"

#define JUDGE_LEAST_OBSERVATIONS 3 /* runs of a group, or batches */
/*
 * Default of run_spread: then at most 5 % of pairs of runs of one load on one machine, whose own
 * load does not change much, have a verdict. docs/validation.md.
 */
#define JUDGE_RUN_SPREAD_PERCENT 100
#define JUDGE_RUN_SPREAD (JUDGE_RUN_SPREAD_PERCENT / 100.0)

/*
 * A larger latency is worse. A higher rate is not: a machine that does more work has more events,
 * and more slow events.
 */
enum judge_statistic {
	JUDGE_TAIL, /* share of events at or beyond the threshold */
	JUDGE_QUANTILE, /* first of SUMMARY_QUANTILES */
	JUDGE_MEAN = JUDGE_QUANTILE + SUMMARY_QUANTILES,
	JUDGE_LATENCIES, /* those before it need events */
	JUDGE_RATE = JUDGE_LATENCIES, /* events per second */
	JUDGE_TAIL_RATE, /* tail events per second */
	JUDGE_STATISTICS, /* of a latency */
	JUDGE_SHARE = JUDGE_STATISTICS, /* a part of a whole: see share_judge.h */
};

#define JUDGE_ALL ((2U << JUDGE_SHARE) - 1) /* the mask of all */

enum judge_verdict {
	JUDGE_NO_DIFFERENCE,
	JUDGE_WORSE,
	JUDGE_BETTER,
	JUDGE_MORE, /* only of rates and shares */
	JUDGE_FEWER,
	JUDGE_LESS, /* only of shares, besides JUDGE_MORE */
	JUDGE_VERDICTS,
};

struct judge_rules {
	double confidence; /* 0.95 */
	double min_effect; /* 0.1: ratios from 1 / 1.1 to 1.1 are no difference */
	uint32_t statistics; /* to test: mask of 1 << enum judge_statistic */
	bool batches; /* observations are batches of intervals, not runs */
	double run_spread; /* with batches: assumed relative spread from run to run */
};

struct judge_group {
	const struct observation *observations; /* each with events */
	size_t nr;
	size_t runs; /* windows that the observations come from */
	const uint64_t *windows_ns; /* of struct group: also those without events */
	size_t nr_windows;
};

/*
 * NAN: no value. The value of a group is the geometric mean of its runs; with batches, the value of
 * all events. Shares are in [0, 1], rates are per second, latencies in ns.
 */
struct judged {
	double off, on;
	double ratio; /* ON / OFF */
	double low, high; /* its interval, for this statistic alone */
	double p; /* two-sided, for this statistic alone */
	double adjusted; /* p, for the number of tests */
	double spread; /* standard deviation of the logarithm from run to run; NAN with batches */
	bool tested;
	enum judge_verdict verdict;
	char why[RUN_TEXT]; /* why there is no verdict, or why to doubt it; may be empty */
};

extern const char *const judge__groups[2]; /* "OFF", "ON" */
extern const struct judged judge__none; /* without values and verdict */

bool judge__is_rate(unsigned int statistic);

/* "tail", "p99.9", "mean", "rate", "tail/s", "share"; -EINVAL if the name is unknown. */
const char *judge__name(unsigned int statistic);
int judge__find(const char *name);

/* "worse", "better", "more", "fewer", "less", "no difference shown". */
const char *judge__word(enum judge_verdict verdict);

/* The same, or "cannot tell" if the statistic could not be tested, see `why`. */
const char *judge__verdict(const struct judged *judged);

/* The logarithms of all statistics except rates. The histogram must have events. */
void judge__logarithms(const struct lat_hist *hist, double logs[JUDGE_LATENCIES]);

/* All but adjusted and verdict. */
void judge__statistics(const struct judge_rules *rules, const struct judge_group *off,
		       const struct judge_group *on, struct judged statistics[JUDGE_STATISTICS]);

/*
 * The verdicts over a family of nr latencies, each with its JUDGE_STATISTICS statistics, corrected
 * for the number of tests by Holm's method. Returns that number, or -ENOMEM.
 */
ssize_t judge__verdicts(const struct judge_rules *rules, struct judged *const family[], size_t nr);

/*
 * Batches do not show how much their run differs from the next one. This is that spread, as the
 * variance of the centre's logarithm; 0 without batches.
 */
double judge__between_runs(const struct judge_rules *rules, size_t runs);

/* Sets the verdict from ratio, p and adjusted, which is p as one of `family` tests. */
void judge__conclude(const struct judge_rules *rules, unsigned int statistic, size_t family,
		     struct judged *judged);

/* ---- rate.c ---- */

struct rate {
	uint64_t events;
	/*
	 * Of runs that all have events: the geometric mean of their rates. Otherwise all events per
	 * total time. NAN: time unknown.
	 */
	double per_second;
	double centre; /* logarithm of the typical rate */
	double variance; /* of one window, beyond that of independent events */
	double known; /* variance of the centre from independent events */
};

/*
 * The rate of one latency, from its observations in order of their windows; a window without an
 * observation has no events. `tail`: only tail events. `batches`: the windows are parts of one run;
 * otherwise each is a run.
 */
struct rate rate__of(const struct observation *observations, size_t nr, const uint64_t *windows_ns,
		     size_t nr_windows, bool tail, bool batches);

#endif
