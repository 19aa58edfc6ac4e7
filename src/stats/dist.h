/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions for tests and intervals. */
#ifndef LATSCOPE_STATS_DIST_H
#define LATSCOPE_STATS_DIST_H

/*
 * P(|T| >= |t|) of Student's t with df > 0 degrees of freedom, which need not be an integer;
 * INFINITY: the normal distribution.
 */
double dist__t_both_tails(double t, double df);

/* The t with P(T <= t) = p, 0 < p < 1. */
double dist__t_quantile(double p, double df);

/* The z with P(Z <= z) = p of the standard normal distribution, 0 < p < 1. */
double dist__normal_quantile(double p);

#endif
