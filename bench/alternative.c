// SPDX-License-Identifier: BSD-2-Clause
#include "alternative.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <stats/inference.h>

#include "synthetic.h"

static void draw(const struct alternative_group *group, double logs[JUDGE_LATENCIES])
{
	struct lat_hist hist = { 0 };
	unsigned int drawn = 0;

	while (drawn < group->nr) {
		unsigned int first = synthetic__below(group->nr);

		for (unsigned int i = 0; i < group->block && drawn < group->nr; i++, drawn++)
			sparse__add_to(&hist, &group->observations[(first + i) % group->nr].hist);
	}
	judge__logarithms(&hist, logs);
}

/* p is twice the smaller share of the resampled differences on either side of 0. */
void alternative__bootstrap(const struct alternative_group *off, const struct alternative_group *on,
			    unsigned int resamples, double p[JUDGE_LATENCIES])
{
	double logs[2][JUDGE_LATENCIES], above[JUDGE_LATENCIES] = { 0 };

	for (unsigned int i = 0; i < resamples; i++) {
		draw(off, logs[0]);
		draw(on, logs[1]);
		for (unsigned int j = 0; j < JUDGE_LATENCIES; j++)
			above[j] += logs[1][j] > logs[0][j] ? 1 : logs[1][j] < logs[0][j] ? 0 : 0.5;
	}
	for (unsigned int j = 0; j < JUDGE_LATENCIES; j++) {
		double share = (above[j] + 0.5) / (resamples + 1);

		p[j] = 2 * fmin(share, 1 - share);
	}
}

struct moments {
	double mean, variance; /* the variance is that of the mean */
};

static struct moments moments(const struct alternative_group *group, unsigned int statistic)
{
	double logs[JUDGE_LATENCIES], sum = 0, squares = 0, nr = group->nr;

	for (unsigned int i = 0; i < group->nr; i++) {
		struct lat_hist hist = { 0 };

		sparse__add_to(&hist, &group->observations[i].hist);
		judge__logarithms(&hist, logs);
		sum += logs[statistic];
		squares += logs[statistic] * logs[statistic];
	}
	return (struct moments){ sum / nr, (squares - sum * sum / nr) / (nr - 1) / nr };
}

void alternative__welch(const struct alternative_group *off, const struct alternative_group *on,
			double p[JUDGE_LATENCIES])
{
	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++) {
		struct moments a = moments(off, i), b = moments(on, i);
		double sum = a.variance + b.variance;
		double df = sum * sum /
			    (a.variance * a.variance / (off->nr - 1) +
			     b.variance * b.variance / (on->nr - 1));

		p[i] = sum > 0 ? dist__t_both_tails((b.mean - a.mean) / sqrt(sum), df) : 1;
	}
}

#define MOST 512

static double covariance(const double *x, unsigned int nr, double mean, unsigned int lag)
{
	double sum = 0;

	for (unsigned int i = 0; i + lag < nr; i++)
		sum += (x[i] - mean) * (x[i + lag] - mean);
	return sum / nr;
}

/*
 * The smallest lag after which as many correlations in a row as the paper demands are not
 * significant.
 */
static unsigned int last_lag(const double *covariances, unsigned int lags, unsigned int row,
			     unsigned int nr)
{
	double limit = 2 * sqrt(log10(nr) / nr) * covariances[0];
	unsigned int quiet = 0, last = 0;

	for (unsigned int i = 1; i <= lags; i++) {
		quiet = fabs(covariances[i]) < limit ? quiet + 1 : 0;
		if (!quiet)
			last = i;
		if (quiet == row)
			break;
	}
	return last ? last : 1;
}

static double flat_top(double x)
{
	return x <= 0.5 ? 1 : 2 * (1 - x);
}

static double block_length(const double *x, unsigned int nr)
{
	unsigned int row = (unsigned int)fmax(5, ceil(sqrt(log10(nr))));
	unsigned int lags = (unsigned int)fmin(nr - 1, ceil(sqrt(nr)) + row), window;
	double covariances[MOST], mean = 0, g = 0, density,
				  most = ceil(fmin(3 * sqrt(nr), nr / 3.));

	for (unsigned int i = 0; i < nr; i++)
		mean += x[i] / nr;
	for (unsigned int i = 0; i <= lags; i++)
		covariances[i] = covariance(x, nr, mean, i);
	density = covariances[0];
	if (density <= 0)
		return 1;
	window = (unsigned int)fmin(2 * last_lag(covariances, lags, row, nr), lags);
	for (unsigned int i = 1; i <= window; i++) {
		double weight = 2 * flat_top((double)i / window);

		g += weight * i * covariances[i];
		density += weight * covariances[i];
	}
	return fmin(cbrt(2 * g * g / (4. / 3 * density * density)) * cbrt(nr), most);
}

unsigned int alternative__block_length(const struct observation *observations, unsigned int nr)
{
	static double logs[MOST][JUDGE_LATENCIES];
	double series[MOST], longest = 1;

	for (unsigned int i = 0; i < nr; i++) {
		struct lat_hist hist = { 0 };

		sparse__add_to(&hist, &observations[i].hist);
		judge__logarithms(&hist, logs[i]);
	}
	for (unsigned int j = 0; j < JUDGE_LATENCIES; j++) {
		for (unsigned int i = 0; i < nr; i++)
			series[i] = logs[i][j];
		longest = fmax(longest, block_length(series, nr));
	}
	return (unsigned int)ceil(longest);
}
