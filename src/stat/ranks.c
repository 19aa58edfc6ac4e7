// SPDX-License-Identifier: BSD-2-Clause
#include "ranks.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "dist.h"

struct placed {
	double value;
	size_t at;
};

static int by_value(const void *left, const void *right)
{
	double a = ((const struct placed *)left)->value, b = ((const struct placed *)right)->value;

	return a < b ? -1 : a > b;
}

int ranks__of(const double *values, size_t nr, double *ranks)
{
	struct placed *order;

	order = calloc(nr + 1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = (struct placed){ values[i], i };
	qsort(order, nr, sizeof(*order), by_value);
	for (size_t first = 0, next; first < nr; first = next) {
		for (next = first; next < nr && order[next].value == order[first].value;)
			next++;
		for (size_t i = first; i < next; i++)
			ranks[order[i].at] = (double)(first + 1 + next) / 2;
	}
	free(order);
	return 0;
}

/* To mean 0 and variance 1; if they are all the same, to 0. */
static void standardise(double *ranks, size_t nr)
{
	double mean = ((double)nr + 1) / 2, squares = 0, spread;

	for (size_t i = 0; i < nr; i++) {
		ranks[i] -= mean;
		squares += ranks[i] * ranks[i];
	}
	spread = sqrt(squares / (double)nr);
	for (size_t i = 0; spread > 0 && i < nr; i++)
		ranks[i] /= spread;
}

/* Mean product of a series and another that is so many places ahead; both are standardised. */
static double product(const double *a, const double *b, size_t nr, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i + lag < nr; i++)
		sum += a[i] * b[i + lag];
	return sum / (double)(nr - lag);
}

static bool varies(const double *standardised, size_t nr)
{
	return product(standardised, standardised, nr, 0) > 0;
}

static double effective(const double *a, const double *b, size_t nr)
{
	double inflation = 1;

	for (size_t lag = 1; lag <= nr / 5; lag++)
		inflation += 2 * (double)(nr - lag) / (double)nr * product(a, a, nr, lag) *
			     product(b, b, nr, lag);
	return (double)nr / fmax(inflation, 1);
}

static void infer(struct ranks_correlation *result, double confidence)
{
	double rho = fmax(fmin(result->rho, 0.9999), -0.9999), z = atanh(rho);
	double variance = fmax(1.06, 1 + rho * rho / 2) / (result->effective - 3);
	double df = result->effective - 2;
	double half = sqrt(variance) * dist__t_quantile(0.5 + confidence / 2, df);

	result->low = tanh(z - half);
	result->high = tanh(z + half);
	result->p = dist__t_both_tails(z / sqrt(variance), df);
}

static void correlate(double *a, double *b, size_t nr, double confidence,
		      struct ranks_correlation *result)
{
	standardise(a, nr);
	standardise(b, nr);
	if (!nr || !varies(a, nr) || !varies(b, nr))
		return;
	result->rho = product(a, b, nr, 0);
	result->effective = effective(a, b, nr);
	if (result->effective >= RANKS_LEAST_EFFECTIVE)
		infer(result, confidence);
}

int ranks__correlate(const double *a, const double *b, size_t nr, double confidence,
		     struct ranks_correlation *result)
{
	double *ranks;
	int err;

	*result = (struct ranks_correlation){ NAN, 0, NAN, NAN, NAN };
	ranks = calloc(2 * nr + 1, sizeof(*ranks));
	if (!ranks)
		return -ENOMEM;
	err = ranks__of(a, nr, ranks);
	if (!err)
		err = ranks__of(b, nr, ranks + nr);
	if (!err)
		correlate(ranks, ranks + nr, nr, confidence, result);
	free(ranks);
	return err;
}
