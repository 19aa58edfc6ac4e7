/* SPDX-License-Identifier: BSD-2-Clause */
/* Rank correlation of two time series. */
#ifndef LATSCOPE_STATS_RANKS_H
#define LATSCOPE_STATS_RANKS_H

#include <stddef.h>

#define RANKS_LEAST_EFFECTIVE 6

/*
 * 1 for the least to nr for the largest; equal values share the mean of their ranks. 0 or -ENOMEM.
 */
int ranks__of(const double *values, size_t nr, double *ranks);

struct ranks_correlation {
	double rho; /* Spearman's, -1 to 1; NAN if a series does not vary */
	double effective; /* effective number of independent pairs */
	double low, high; /* interval of rho; NAN with fewer than RANKS_LEAST_EFFECTIVE */
	double p; /* two-sided, that rho is 0; NAN as above */
};

/*
 * Spearman's rank correlation (C. Spearman, Am. J. Psychol. 15 (1904) 72-101) of two series in
 * order of time.
 *
 * Because of autocorrelation the effective number of pairs is less than nr. It is that of M. S.
 * Bartlett (J. R. Stat. Soc. 98 (1935) 536-543), from the autocorrelation of the ranks with lags up
 * to nr / 5, as B. J. Pyper and R. M. Peterman (Can. J. Fish. Aquat. Sci. 55 (1998) 2127-2140)
 * recommend; never more than nr.
 *
 * The interval is Fisher's z with the variance of D. G. Bonett and T. A. Wright (Psychometrika 65
 * (2000) 23-28), at least that of E. C. Fieller et al. (Biometrika 44 (1957) 470-481), and
 * Student's t with the effective number. docs/validation.md has the error rates. 0 or -ENOMEM.
 */
int ranks__correlate(const double *a, const double *b, size_t nr, double confidence,
		     struct ranks_correlation *result);

#endif
