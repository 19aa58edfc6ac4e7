/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions for tests and intervals, and the correction of p-values for their number. */
#ifndef LATSCOPE_STATS_INFERENCE_H
#define LATSCOPE_STATS_INFERENCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * P(|T| >= |t|) of Student's t with df > 0 degrees of freedom, which need not be an integer;
 * INFINITY: the normal distribution.
 */
double dist__t_both_tails(double t, double df);

/* The t with P(T <= t) = p, 0 < p < 1. */
double dist__t_quantile(double p, double df);

/* The z with P(Z <= z) = p of the standard normal distribution, 0 < p < 1. */
double dist__normal_quantile(double p);

/*
 * Corrects p-values for their number, in place, by Holm's step-down method (S. Holm, Scand. J.
 * Stat. 6 (1979) 65-70). If those up to alpha are rejected, the probability of any error is at most
 * alpha, whatever the dependence between the tests. 0 or -ENOMEM.
 */
int holm__adjust(double *p, size_t nr);

/* ---- share.c ---- */

struct share_interval {
	double low, high;
};

/*
 * Wilson's score interval (E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212). It assumes
 * independent events, which the events of one run are not: use it as a description, not as a test.
 * 0 to 1 if there are no events.
 */
struct share_interval share__wilson(uint64_t part, uint64_t whole, double confidence);

/* (on / (1 - on)) / (off / (1 - off)) of two shares; NAN if undefined. */
double share__odds_ratio(double off, double on);

/* ---- contrast.c ---- */

struct contrast_group {
	double centre;
	double variance; /* of one observation; the centre's is this / observations */
	double observations; /* at least 2 */
	double known; /* variance of the centre that is known, not observed */
};

struct contrast {
	double difference; /* on - off */
	double low, high; /* its interval */
	double p; /* two-sided */
};

/*
 * Student's t by Welch (Biometrika 34 (1947) 28-35) and with a common variance; returns the wider
 * interval and the larger p. With equal numbers of observations that is always Welch's. With 3
 * against 10 or more, Welch's alone errs in 6 to 8 % of cases at a nominal 5 %; the other one is
 * exact if the variances are equal.
 *
 * The null hypothesis is that the difference lies within +-margin; with a margin of 0, that there
 * is no difference. If nothing varies at all, p is 0 or 1.
 */
struct contrast contrast__of(const struct contrast_group *off, const struct contrast_group *on,
			     double confidence, double margin);

#endif
