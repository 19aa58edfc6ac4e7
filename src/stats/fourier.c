// SPDX-License-Identifier: BSD-2-Clause
#include "fourier.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

size_t fourier__size(size_t nr)
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

int fourier__transform(double complex *values, size_t size)
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
