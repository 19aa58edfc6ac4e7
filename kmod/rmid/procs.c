// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "procs.h"

__u32 procs__lines(__u32 limit)
{
	__u32 lines = 1;

	while (lines * PROCS_WAYS < limit * 2)
		lines *= 2;
	return lines;
}

void procs__init(struct rmid_procs *procs, __u64 *keys, struct rmid_process *places, __u32 limit)
{
	*procs = (struct rmid_procs){
		.keys = keys, .places = places, .lines = procs__lines(limit), .limit = limit
	};
}

/* Fibonacci hashing; the two lines use different bits of the product. */
static __u32 line_of(const struct rmid_procs *procs, __u64 key, int choice)
{
	__u64 mixed = key * 0x9e3779b97f4a7c15ULL;

	return (choice ? mixed >> 20 : mixed >> 42) & (procs->lines - 1);
}

static __u32 find_in_line(const struct rmid_procs *procs, __u32 line, __u64 key)
{
	__u32 place = line * PROCS_WAYS, end = place + PROCS_WAYS;

	for (; place < end; place++)
		if (__atomic_load_n(&procs->keys[place], __ATOMIC_ACQUIRE) == key)
			return place;
	return PROCS_NONE;
}

__u32 procs__find(const struct rmid_procs *procs, __u64 key)
{
	__u32 place = find_in_line(procs, line_of(procs, key, 0), key);

	return place != PROCS_NONE ? place : find_in_line(procs, line_of(procs, key, 1), key);
}

static __u32 taken(const struct rmid_procs *procs, __u32 line)
{
	__u32 place = line * PROCS_WAYS, end = place + PROCS_WAYS, count = 0;

	for (; place < end; place++)
		count += procs->keys[place] != 0;
	return count;
}

__u32 procs__add(struct rmid_procs *procs, __u64 key, const struct rmid_process *process)
{
	__u32 first = line_of(procs, key, 0), second = line_of(procs, key, 1);
	__u32 line = taken(procs, first) <= taken(procs, second) ? first : second;
	__u32 place = find_in_line(procs, line, 0);

	if (place == PROCS_NONE || procs->count == procs->limit)
		return PROCS_NONE;
	procs->places[place] = *process;
	/* A reader that finds the key can use the process. */
	__atomic_store_n(&procs->keys[place], key, __ATOMIC_RELEASE);
	procs->count++;
	return place;
}

void procs__remove(struct rmid_procs *procs, __u32 place)
{
	__atomic_store_n(&procs->keys[place], 0, __ATOMIC_RELEASE);
	procs->count--;
}
