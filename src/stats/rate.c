// SPDX-License-Identifier: BSD-2-Clause
#include "rate.h"

#include <math.h>

/*
 * Half an event more keeps the logarithm of no events finite, and makes that of a Poisson count
 * nearly unbiased from one event on (Haldane, see judge.c). So does 1 ns that of no time, as of a
 * run that was cut off before its first interval ended.
 */
static double log_rate(uint64_t events, uint64_t ns)
{
	return log(((double)events + 0.5) / (fmax((double)ns, 1) / 1e9));
}

/*
 * Variance of the logarithm of a Poisson count. 1 / (n + 1) instead of 1 / n: with it the interval
 * of log_rate() reaches as far up as the exact one, to within a tenth from no event on.
 */
static double poisson_variance(uint64_t events)
{
	return 1 / ((double)events + 1);
}

static uint64_t count_of(const struct observation *observation, bool tail)
{
	return tail ? observation->hist.tail : observation->events;
}

/* The unit of a window, if it has one: `*at` is where to look, as both are in the same order. */
static uint64_t count_in(const struct observation *observations, size_t nr, size_t window,
			 size_t *at, bool tail)
{
	if (*at == nr || observations[*at].window != window)
		return 0;
	return count_of(&observations[(*at)++], tail);
}

struct rate rate__of(const struct observation *observations, size_t nr, const uint64_t *windows_ns,
		     size_t nr_windows, bool tail, bool batches)
{
	struct rate rate = { .per_second = NAN };
	double logs = 0, squares = 0, n = (double)nr_windows, poisson = 0, off;
	uint64_t ns = 0, count;

	for (size_t i = 0, at = 0; i < nr_windows; i++) {
		count = count_in(observations, nr, i, &at, tail);
		rate.events += count;
		ns += windows_ns[i];
		logs += log_rate(count, windows_ns[i]);
		poisson += poisson_variance(count) / (n * n);
	}
	if (!ns)
		return rate;
	rate.per_second = (double)rate.events / ((double)ns / 1e9);
	rate.centre = batches ? log_rate(rate.events, ns) : logs / n;
	rate.known = batches ? poisson_variance(rate.events) : poisson;
	for (size_t i = 0, at = 0; i < nr_windows; i++) {
		off = log_rate(count_in(observations, nr, i, &at, tail), windows_ns[i]) -
		      rate.centre;
		squares += off * off;
	}
	if (nr_windows > 1)
		rate.variance = fmax(squares / (n - 1) - rate.known * n, 0);
	return rate;
}
