// SPDX-License-Identifier: BSD-2-Clause
#include "ranks.h"

#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "inference.h"

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

/* Scales to mean 0 and variance 1; equal values all become 0. */
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

/* Mean product of two standardised series. */
static double product(const double *a, const double *b, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += a[i] * b[i];
	return sum / (double)nr;
}

static bool varies(const double *standardised, size_t nr)
{
	return product(standardised, standardised, nr) > 0;
}

/* The least power of two that is not less than nr. */
static size_t fourier_size(size_t nr)
{
	size_t size = 1;

	while (size < nr)
		size *= 2;
	return size;
}

/* Sorts the values by the bit-reversed index. */
static void permute(double complex *values, size_t size)
{
	for (size_t i = 1, j = 0; i < size; i++) {
		size_t bit = size / 2;

		for (; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			double complex kept = values[i];

			values[i] = values[j];
			values[j] = kept;
		}
	}
}

/* Spelled out: the operator checks for infinities, which takes longer than everything else. */
static double complex times(double complex a, double complex b)
{
	return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b),
		     creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* Combines two transforms of half the size, next to each other, into one. */
static void join(double complex *values, size_t half, const double complex *turns, size_t step)
{
	for (size_t i = 0; i < half; i++) {
		double complex odd = times(values[i + half], turns[i * step]);

		values[i + half] = values[i] - odd;
		values[i] += odd;
	}
}

/*
 * Discrete Fourier transform in place, by J. W. Cooley and J. W. Tukey (Math. Comput. 19 (1965)
 * 297-301); `size` is a power of two. Not scaled: applied twice, it gives the values in reverse
 * order, multiplied by size. 0 or -ENOMEM.
 */
static int transform(double complex *values, size_t size)
{
	double complex *turns = calloc(size / 2 + 1, sizeof(*turns));

	if (!turns)
		return -ENOMEM;
	for (size_t i = 0; i < size / 2; i++)
		turns[i] = cexp(-2 * M_PI * I * (double)i / (double)size);
	permute(values, size);
	for (size_t half = 1; half < size; half *= 2) {
		for (size_t i = 0; i < size; i += 2 * half)
			join(values + i, half, turns, size / half / 2);
	}
	free(turns);
	return 0;
}

/*
 * Replaces two series, the real and the imaginary part of the values, by their autocorrelations
 * times size. Computed lag by lag, this would take quadratic time, hours for a million values. So
 * it uses a Fourier transform (N. Wiener, Acta Math. 55 (1930) 117-258). The series must be
 * followed by as many zeros as lags are used. 0 or -ENOMEM.
 */
static int correlations(double complex *values, size_t size)
{
	int err;

	err = transform(values, size);
	/* The power spectra of both are real and even, and so are their transforms. */
	for (size_t i = 0; i <= size / 2; i++) {
		double complex one = values[i], other = conj(values[(size - i) % size]);
		double of_a = cabs(one + other) / 2, of_b = cabs(one - other) / 2;

		values[i] = CMPLX(of_a * of_a, of_b * of_b);
		values[(size - i) % size] = values[i];
	}
	return err ? err : transform(values, size);
}

/*
 * Sum over the lags from 1 to nr / 5 of both autocorrelations' product, weighted by the pairs that
 * each lag has. 0 or -ENOMEM.
 */
static int inflation(const double *a, const double *b, size_t nr, double *sum)
{
	size_t lags = nr / 5, size = fourier_size(nr + lags);
	double complex *values;
	int err;

	values = calloc(size, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		values[i] = CMPLX(a[i], b[i]);
	err = correlations(values, size);
	*sum = 0;
	for (size_t lag = 1; lag <= lags; lag++) {
		double pairs = (double)(nr - lag);

		*sum += pairs / (double)nr * (creal(values[lag]) / (double)size / pairs) *
			(cimag(values[lag]) / (double)size / pairs);
	}
	free(values);
	return err;
}

static int effective(const double *a, const double *b, size_t nr, double *result)
{
	double sum = 0;
	int err;

	err = inflation(a, b, nr, &sum);
	*result = (double)nr / fmax(1 + 2 * sum, 1);
	return err;
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

static int correlate(double *a, double *b, size_t nr, double confidence,
		     struct ranks_correlation *result)
{
	int err;

	standardise(a, nr);
	standardise(b, nr);
	if (!nr || !varies(a, nr) || !varies(b, nr))
		return 0;
	result->rho = product(a, b, nr);
	err = effective(a, b, nr, &result->effective);
	if (!err && result->effective >= RANKS_LEAST_EFFECTIVE)
		infer(result, confidence);
	return err;
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
	err = ranks__of(a, nr, ranks) ?:
	      ranks__of(b, nr, ranks + nr) ?:
	      correlate(ranks, ranks + nr, nr, confidence, result);
	free(ranks);
	return err;
}
