/* SPDX-License-Identifier: BSD-2-Clause */
/* splitmix64, so that the same seed makes the same machine everywhere. */
#ifndef LATSCOPE_TESTS_MSRFS_RANDOM_H
#define LATSCOPE_TESTS_MSRFS_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *seed)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* [0, 1) */
static inline double random_unit(uint64_t *seed)
{
	return (random_next(seed) >> 11) * 0x1p-53;
}

#endif
