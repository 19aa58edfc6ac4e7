// SPDX-License-Identifier: BSD-2-Clause
#include "inference.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define TINY 1e-300
#define PRECISION 1e-15
#define MOST_TERMS 1000
#define NEARLY_NORMAL 1e6 /* degrees of freedom; see normal_for_t() */

/* One step of Lentz's method: multiplies the fraction by its next term. */
static double lentz(double term, double *c, double *d)
{
	*d = 1 + term * *d;
	*d = 1 / (fabs(*d) < TINY ? TINY : *d);
	*c = 1 + term / *c;
	if (fabs(*c) < TINY)
		*c = TINY;
	return *c * *d;
}

/* Continued fraction of the incomplete beta function: DLMF 8.17.22, https://dlmf.nist.gov/8.17 */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 0, result = 1, factor;

	for (int m = 0; m < MOST_TERMS; m++) {
		result *=
			lentz(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), &c, &d);
		factor = lentz((m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2)), &c,
			       &d);
		result *= factor;
		if (fabs(factor - 1) < PRECISION)
			break;
	}
	return 1 / result;
}

/* lgamma() keeps a sign in a global; the arguments here are positive. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/*
 * Regularised incomplete beta function I_x(a, b). 1 - x is passed too, because computing it here
 * would cancel.
 */
static double beta_regularised(double a, double b, double x, double rest)
{
	bool swap = x > (a + 1) / (a + b + 2);
	double front;

	if (x <= 0 || rest <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(rest));
	if (swap)
		return 1 - front * beta_fraction(b, a, rest) / b;
	return front * beta_fraction(a, b, x) / a;
}

static double normal_both_tails(double z, double unused)
{
	(void)unused;
	return erfc(fabs(z) / M_SQRT2);
}

/*
 * The z with the tails of t: Abramowitz and Stegun, 26.7.8. From NEARLY_NORMAL on, the absolute
 * error of the tails is 1e-10 up to t = 3, and their relative error 1e-7 up to t = 8. The
 * incomplete beta function cannot be used there: it subtracts terms that grow with df, and beyond
 * 1e14 the result is noise.
 */
static double normal_for_t(double t, double df)
{
	return t * (1 - 1 / (4 * df)) / sqrt(1 + t * t / (2 * df));
}

double dist__t_both_tails(double t, double df)
{
	double square = t * t;

	if (isinf(t))
		return 0;
	if (df >= NEARLY_NORMAL)
		return normal_both_tails(normal_for_t(t, df), 0);
	return beta_regularised(df / 2, 0.5, df / (df + square), square / (df + square));
}

/* The value above which half of `both` lies, found by halving. */
static double invert(double (*both_tails)(double at, double df), double both, double df)
{
	double low = 0, high = 1;

	while (both_tails(high, df) > both && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
		double middle = (low + high) / 2;

		if (both_tails(middle, df) > both)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

double dist__t_quantile(double p, double df)
{
	return p < 0.5 ? -invert(dist__t_both_tails, 2 * p, df)
		       : invert(dist__t_both_tails, 2 * (1 - p), df);
}

double dist__normal_quantile(double p)
{
	return p < 0.5 ? -invert(normal_both_tails, 2 * p, 0)
		       : invert(normal_both_tails, 2 * (1 - p), 0);
}

static int by_value(const void *left, const void *right)
{
	double a = **(double *const *)left, b = **(double *const *)right;

	return a < b ? -1 : a > b;
}

int holm__adjust(double *p, size_t nr)
{
	double **ranked, least = 0;

	ranked = calloc(nr + 1, sizeof(*ranked));
	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		ranked[i] = &p[i];
	qsort(ranked, nr, sizeof(*ranked), by_value);
	for (size_t i = 0; i < nr; i++) {
		double adjusted = *ranked[i] * (double)(nr - i);

		/* If a hypothesis is not rejected, no later one is either. */
		if (adjusted > least)
			least = adjusted > 1 ? 1 : adjusted;
		*ranked[i] = least;
	}
	free(ranked);
	return 0;
}
