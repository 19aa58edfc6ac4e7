// SPDX-License-Identifier: BSD-2-Clause
#include "why_pairs.h"

static struct why_amount read_amount(const struct why_amount *of)
{
	return (struct why_amount){
		.ns = __atomic_load_n(&of->ns, __ATOMIC_RELAXED),
		.count = __atomic_load_n(&of->count, __ATOMIC_RELAXED),
		.read_bytes = __atomic_load_n(&of->read_bytes, __ATOMIC_RELAXED),
		.written_bytes = __atomic_load_n(&of->written_bytes, __ATOMIC_RELAXED),
	};
}

static struct why_amount difference(const struct why_amount *now, const struct why_amount *before)
{
	return (struct why_amount){ .ns = now->ns - before->ns,
				    .count = now->count - before->count,
				    .read_bytes = now->read_bytes - before->read_bytes,
				    .written_bytes = now->written_bytes - before->written_bytes };
}

/* A gain of no time is none: parts of 0 ns are not added. */
static int read_pair(struct why_pairs *pairs, uint32_t place, why_pairs_each *each, void *context)
{
	const struct why_pair *shared = &pairs->pairs[place];
	struct why_amount now = read_amount(&shared->amount);
	struct why_amount gained = difference(&now, &pairs->seen[place].amount);
	struct why_pair pair;

	if (!gained.ns && !gained.count) {
		pairs->seen[place].idle += pairs->seen[place].idle < WHY_PAIRS_IDLE;
		return 0;
	}
	pairs->seen[place].idle = 0;
	pairs->seen[place].amount = now;
	pair = *shared;
	if (place < WHY_PARTS)
		pair.part = place;
	return each(context, &pair, place >= WHY_PARTS, &gained);
}

static void set_state(struct why_pair *pair, uint32_t state)
{
	__atomic_store_n(&pair->state, state, __ATOMIC_RELEASE);
}

static void retire_idle(struct why_pairs *pairs)
{
	for (uint32_t place = WHY_PARTS; place < WHY_PLACES; place++) {
		if (pairs->pairs[place].state != WHY_READY ||
		    pairs->seen[place].idle < WHY_PAIRS_IDLE)
			continue;
		set_state(&pairs->pairs[place], WHY_CLAIMED);
		pairs->seen[place].retired = true;
	}
}

int why_pairs__read(struct why_pairs *pairs, why_pairs_each *each, void *context)
{
	uint32_t taken = 0;
	int err = 0;

	for (uint32_t place = 0; !err && place < WHY_PLACES; place++) {
		struct why_pair *pair = &pairs->pairs[place];
		uint32_t state = __atomic_load_n(&pair->state, __ATOMIC_ACQUIRE);
		bool retired = pairs->seen[place].retired;

		if (place >= WHY_PARTS && state != WHY_READY && !retired)
			continue;
		err = read_pair(pairs, place, each, context);
		taken++;
		if (!retired)
			continue;
		pairs->seen[place].retired = false;
		pairs->seen[place].idle = 0;
		set_state(pair, WHY_FREE);
	}
	if (taken > WHY_PAIRS / 2)
		retire_idle(pairs);
	return err;
}
