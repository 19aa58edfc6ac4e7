// SPDX-License-Identifier: GPL-2.0-only
#include "turns.h"

void turns__init(struct turns *turns, __u32 count)
{
	*turns = (struct turns){ .count = count };
}

void turns__begin(struct turns *turns)
{
	int i;

	for (i = 0; i < TURNS_WORDS; i++) {
		turns->first[i] |= __atomic_exchange_n(&turns->ran[i], 0, __ATOMIC_RELAXED);
		turns->done[i] = 0;
	}
}

/*
 * The lowest member of a set (of its complement, if `invert`) in [from, count]; 0: none. RMID 0 is
 * not read: `from` is at least 1.
 */
static __u32 lowest(const struct turns *turns, const __u64 *set, _Bool invert, __u32 from)
{
	__u64 mask = ~0ULL << (from % 64), word;
	__u32 i, rmid;

	for (i = from / 64; i < TURNS_WORDS; i++, mask = ~0ULL) {
		word = (invert ? ~set[i] : set[i]) & mask;
		if (!word)
			continue;
		rmid = i * 64 + __builtin_ctzll(word);
		return rmid <= turns->count ? rmid : 0;
	}
	return 0;
}

/* The next one after *at, starting again at 1; updates *at. */
static __u32 next_of(const struct turns *turns, const __u64 *set, _Bool invert, __u32 *at)
{
	__u32 rmid = lowest(turns, set, invert, *at + 1);

	if (!rmid)
		rmid = lowest(turns, set, invert, 1);
	if (rmid)
		*at = rmid;
	return rmid;
}

__u32 turns__next(struct turns *turns)
{
	__u32 rmid = next_of(turns, turns->first, 0, &turns->first_at);

	if (!rmid)
		rmid = next_of(turns, turns->done, 1, &turns->rest_at);
	turns->first[rmid / 64] &= ~(1ULL << (rmid % 64));
	turns->done[rmid / 64] |= 1ULL << (rmid % 64);
	return rmid;
}
