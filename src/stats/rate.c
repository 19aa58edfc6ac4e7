// SPDX-License-Identifier: BSD-2-Clause
#include "judge.h"

#include <math.h>

/*
 * Half an event is added: the logarithm of no events is then finite, and that of a Poisson count
 * nearly unbiased from one event on (Haldane, see judge.c). 1 ns is added for the same reason: a
 * run that was cut off before its first interval ended has no duration.
 */
static double log_rate(uint64_t events, uint64_t ns)
{
	return log(((double)events + 0.5) / (fmax((double)ns, 1) / 1e9));
}

/*
 * Variance of the logarithm of a Poisson count. 1 / (n + 1) instead of 1 / n: then the upper end of
 * the interval of log_rate() agrees with the exact one within a tenth, even for no events.
 */
static double poisson_variance(uint64_t events)
{
	return 1 / ((double)events + 1);
}

static uint64_t count_of(const struct observation *observation, bool tail)
{
	return tail ? observation->hist.tail : observation->events;
}

/*
 * Events of a window; 0 if it has no observation. `*at` is the next observation: both are in the
 * same order.
 */
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
	double plain_logs = 0; /* without the half events */
	uint64_t ns = 0, count;

	for (size_t i = 0, at = 0; i < nr_windows; i++) {
		count = count_in(observations, nr, i, &at, tail);
		rate.events += count;
		ns += windows_ns[i];
		logs += log_rate(count, windows_ns[i]);
		plain_logs += log((double)count / (fmax((double)windows_ns[i], 1) / 1e9));
		poisson += poisson_variance(count) / (n * n);
	}
	if (!ns)
		return rate;
	rate.per_second = (double)rate.events / ((double)ns / 1e9);
	if (!batches && isfinite(plain_logs))
		rate.per_second = exp(plain_logs / n);
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
