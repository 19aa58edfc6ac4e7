/* SPDX-License-Identifier: BSD-2-Clause */
/* How others would test; to be compared with, not used. p-values are two-sided, of all figures. */
#ifndef LATSCOPE_BENCH_RIVAL_H
#define LATSCOPE_BENCH_RIVAL_H

#include <stats/judge.h>

/* Blocks of units that are drawn together, circularly; at most nr. */
struct rival_group {
	const struct observation *observations;
	unsigned int nr;
	unsigned int block;
};

/*
 * Percentile bootstrap of all events of a side: B. Efron, R. Tibshirani, An Introduction to the
 * Bootstrap, Chapman & Hall 1993, ch. 13.
 */
void rival__bootstrap(const struct rival_group *off, const struct rival_group *on,
		      unsigned int resamples, double p[JUDGE_LATENCIES]);

/* Welch's t of the units' logarithms, whatever their numbers. Blocks do not matter. */
void rival__welch(const struct rival_group *off, const struct rival_group *on,
		  double p[JUDGE_LATENCIES]);

/*
 * Length of blocks by D. N. Politis, H. White (Econom. Rev. 23 (2004) 53-70, corrected with
 * A. Patton in 28 (2009) 372-375), the longest that any figure's logarithm asks for.
 */
unsigned int rival__block_length(const struct observation *observations, unsigned int nr);

#endif
