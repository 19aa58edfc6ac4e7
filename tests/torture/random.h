/* SPDX-License-Identifier: BSD-2-Clause */
/* What the random workloads share: numbers from a seed, and time. */
#ifndef LATSCOPE_TESTS_TORTURE_RANDOM_H
#define LATSCOPE_TESTS_TORTURE_RANDOM_H

#include <stdint.h>
#include <time.h>

/* SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014). */
static inline uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* In [0, limit). */
static inline unsigned int draw_below(uint64_t *state, unsigned int limit)
{
	return (unsigned int)(draw(state) % limit);
}

/* In [least, most], each octave as likely as the other. */
static inline uint64_t draw_octaves(uint64_t *state, uint64_t least, unsigned int octaves)
{
	uint64_t low = least << draw_below(state, octaves);

	return low + draw(state) % low;
}

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
