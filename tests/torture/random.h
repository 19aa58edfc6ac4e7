/* SPDX-License-Identifier: BSD-2-Clause */
/* What the random workloads share: numbers from a seed, and files of cgroups. */
#ifndef LATSCOPE_TESTS_TORTURE_RANDOM_H
#define LATSCOPE_TESTS_TORTURE_RANDOM_H

#include "../reference/reference.h"

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

static inline void write_text(const char *dir, const char *name, const char *text)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "%s: %m\n", path);
	close(fd);
}

#endif
