/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alternative tests, to compare latscope's test with; latscope does not use them. p-values are
 * two-sided.
 */
#ifndef LATSCOPE_BENCH_ALTERNATIVE_H
#define LATSCOPE_BENCH_ALTERNATIVE_H

#include <stats/judge.h>

/* Blocks of units that are drawn together, circularly; at most nr. */
struct alternative_group {
	const struct observation *observations;
	unsigned int nr;
	unsigned int block;
};

/*
 * Percentile bootstrap of all events of a group: B. Efron, R. Tibshirani, An Introduction to the
 * Bootstrap, Chapman & Hall 1993, ch. 13.
 */
void alternative__bootstrap(const struct alternative_group *off, const struct alternative_group *on,
			    unsigned int resamples, double p[JUDGE_LATENCIES]);

/* Welch's t test of the observations' logarithms, whatever their number. It ignores blocks. */
void alternative__welch(const struct alternative_group *off, const struct alternative_group *on,
			double p[JUDGE_LATENCIES]);

/*
 * Block length by D. N. Politis, H. White (Econom. Rev. 23 (2004) 53-70, corrected with
 * A. Patton in 28 (2009) 372-375): the longest one that the logarithm of any statistic needs.
 */
unsigned int alternative__block_length(const struct observation *observations, unsigned int nr);

#endif
