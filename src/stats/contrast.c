// SPDX-License-Identifier: BSD-2-Clause
#include "inference.h"

#include <math.h>

struct error {
	double se; /* standard error of the difference */
	double df;
};

/*
 * Degrees of freedom of a sum of variances (F. E. Satterthwaite, Biometrics Bull. 2 (1946)
 * 110-114), to which what is known adds no uncertainty.
 */
static struct error combine(double variance, double known, double uncertainty, double most_df)
{
	double sum = variance + known;

	return (struct error){ sqrt(sum), variance > 0 ? sum * sum / uncertainty : most_df };
}

static struct error welch(const struct contrast_group *off, const struct contrast_group *on)
{
	double a = off->variance / off->observations, b = on->variance / on->observations;

	return combine(a + b, off->known + on->known,
		       a * a / (off->observations - 1) + b * b / (on->observations - 1),
		       off->observations + on->observations - 2);
}

static struct error common(const struct contrast_group *off, const struct contrast_group *on)
{
	double df = off->observations + on->observations - 2;
	double variance =
		((off->observations - 1) * off->variance + (on->observations - 1) * on->variance) /
		df * (1 / off->observations + 1 / on->observations);

	return combine(variance, off->known + on->known, variance * variance / df, df);
}

static double half_width(const struct error *error, double confidence)
{
	return error->se * dist__t_quantile(0.5 + confidence / 2, error->df);
}

static double p_value(const struct error *error, double beyond)
{
	if (beyond <= 0)
		return 1;
	return dist__t_both_tails(beyond / error->se, error->df);
}

struct contrast contrast__of(const struct contrast_group *off, const struct contrast_group *on,
			     double confidence, double margin)
{
	struct error one = welch(off, on), other = common(off, on);
	double difference = on->centre - off->centre, half, p;

	half = fmax(half_width(&one, confidence), half_width(&other, confidence));
	p = fmax(p_value(&one, fabs(difference) - margin),
		 p_value(&other, fabs(difference) - margin));
	return (struct contrast){ difference, difference - half, difference + half, p };
}
