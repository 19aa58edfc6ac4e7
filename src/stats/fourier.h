/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_STATS_FOURIER_H
#define LATSCOPE_STATS_FOURIER_H

#include <complex.h>
#include <stddef.h>

/* The least power of two that is not less than nr. */
size_t fourier__size(size_t nr);

/*
 * Discrete Fourier transform in place, by J. W. Cooley and J. W. Tukey (Math. Comput. 19 (1965)
 * 297-301); `size` is a power of two. Not scaled: applied twice, it gives the values in reverse
 * order, multiplied by size. 0 or -ENOMEM.
 */
int fourier__transform(double complex *values, size_t size);

#endif
