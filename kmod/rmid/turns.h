/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which RMID of an L3 cache to read next, if the time is too short for all: first those that ran
 * since their last reading, then the others by turns, each at most once per tick. Those that were
 * not read keep their place in the order. Plain C, see rmid_alloc.h.
 */
#ifndef LATSCOPE_RMID_TURNS_H
#define LATSCOPE_RMID_TURNS_H

#include <linux/types.h>
#include <uapi/latscope/rmid.h>

#define TURNS_WORDS ((LATSCOPE_RMID_MAX + 64) / 64)

struct turns {
	__u64 ran[TURNS_WORDS]; /* set by any CPU */
	__u64 first[TURNS_WORDS]; /* ran since their last reading */
	__u64 done[TURNS_WORDS]; /* read in this tick */
	__u32 count; /* RMIDs 1 to count */
	__u32 first_at; /* the last one of each kind that was read */
	__u32 rest_at;
};

/* All zero but the count. */
void turns__init(struct turns *turns, __u32 count);

/* The RMID ran. Any CPU may call this at any time. */
static inline void turns__ran(struct turns *turns, __u32 rmid)
{
	__u64 *word = &turns->ran[rmid / 64], bit = 1ULL << (rmid % 64);

	/* Writes only if the bit is not set: all CPUs share the cache line. */
	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

/* A tick begins. */
void turns__begin(struct turns *turns);

/* The next RMID; 0: all were read in this tick. */
__u32 turns__next(struct turns *turns);

#endif
