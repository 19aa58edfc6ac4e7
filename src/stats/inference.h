/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions for tests and intervals, and the correction of p-values for their number. */
#ifndef LATSCOPE_STATS_INFERENCE_H
#define LATSCOPE_STATS_INFERENCE_H

#include <stddef.h>

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

#endif
