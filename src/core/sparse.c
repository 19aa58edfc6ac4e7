// SPDX-License-Identifier: BSD-2-Clause
#include "sparse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"

#define STEP 16 /* slots to add at a time: doubling would waste memory */

static int make_room(struct sparse *sparse, uint64_t nr)
{
	uint64_t room = (nr + STEP - 1) / STEP * STEP;
	struct sparse_slot *slots;

	if (nr <= sparse->room)
		return 0;
	slots = reallocarray(sparse->slots, room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	sparse->slots = slots;
	sparse->room = room;
	return 0;
}

#define BLOCK 8

/* The first slot from `slot` on that is not empty, or HIST_SLOTS. Most slots are empty. */
static uint32_t next_slot(const struct lat_hist *hist, uint32_t slot)
{
	const __u64 *at;

	for (; slot + BLOCK <= HIST_SLOTS; slot += BLOCK) {
		at = &hist->slots[slot];
		if (at[0] | at[1] | at[2] | at[3] | at[4] | at[5] | at[6] | at[7])
			break;
	}
	while (slot < HIST_SLOTS && !hist->slots[slot])
		slot++;
	return slot;
}

int sparse__set(struct sparse *sparse, const struct lat_hist *hist)
{
	uint64_t nr = 0;
	uint32_t slot;
	int err;

	for (slot = next_slot(hist, 0); slot < HIST_SLOTS; slot = next_slot(hist, slot + 1))
		nr++;
	err = make_room(sparse, nr);
	if (err)
		return err;
	sparse->nr = 0;
	for (slot = next_slot(hist, 0); slot < HIST_SLOTS; slot = next_slot(hist, slot + 1))
		sparse->slots[sparse->nr++] = (struct sparse_slot){ slot, hist->slots[slot] };
	sparse->sum_ns = hist->sum_ns;
	sparse->max_ns = hist->max_ns;
	sparse->tail = hist->tail;
	return 0;
}

static uint64_t load(const __u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Is one of the BLOCK slots not empty? Programs add to them meanwhile. */
static bool has_some(const __u64 *slots)
{
	uint64_t any = 0;

	for (int i = 0; i < BLOCK; i++)
		any |= load(&slots[i]);
	return any;
}

int sparse__read(struct sparse *sparse, const struct lat_hist *shared)
{
	struct sparse_slot found[HIST_SLOTS];
	const uint64_t tail = load(&shared->tail);
	uint64_t nr = 0, count;
	int err;

	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++) {
		if (!(slot % BLOCK) && slot + BLOCK <= HIST_SLOTS &&
		    !has_some(&shared->slots[slot])) {
			slot += BLOCK - 1;
			continue;
		}
		count = load(&shared->slots[slot]);
		if (!count)
			continue;
		found[nr++] = (struct sparse_slot){ slot, count };
	}
	err = make_room(sparse, nr);
	if (err)
		return err;
	if (nr)
		memcpy(sparse->slots, found, nr * sizeof(*found));
	sparse->nr = nr;
	sparse->sum_ns = load(&shared->sum_ns);
	sparse->max_ns = load(&shared->max_ns);
	sparse->tail = tail;
	return 0;
}

static uint64_t gained_from(const struct sparse *now, const struct sparse *before, uint32_t first)
{
	return sparse__count_from(now, first) - sparse__count_from(before, first);
}

void sparse__settle_tail(struct sparse *now, const struct sparse *before, uint64_t tail_ns)
{
	uint32_t first = hist_slot(tail_ns);
	bool is_edge = hist_slot_low_ns(first) == tail_ns;

	now->tail =
		hist__fit_tail(now->tail, before->tail, gained_from(now, before, first + !is_edge),
			       gained_from(now, before, first));
}

int sparse__delta(struct sparse *delta, const struct sparse *now, const struct sparse *before)
{
	uint64_t max = now->max_ns, edge = 0, at = 0, count;
	uint32_t top = HIST_SLOTS;
	int err = make_room(delta, now->nr);

	if (err)
		return err;
	delta->nr = 0;
	for (uint64_t i = 0; i < now->nr; i++) {
		count = now->slots[i].count;
		while (at < before->nr && before->slots[at].slot < now->slots[i].slot)
			at++;
		if (at < before->nr && before->slots[at].slot == now->slots[i].slot)
			count -= before->slots[at].count;
		if (!count)
			continue;
		top = now->slots[i].slot;
		delta->slots[delta->nr++] = (struct sparse_slot){ top, count };
	}
	if (delta->nr)
		edge = top == HIST_OVERFLOW_SLOT ? max : hist_slot_low_ns(top + 1) - 1;
	delta->sum_ns = now->sum_ns - before->sum_ns;
	delta->tail = now->tail - before->tail;
	delta->max_ns = max > before->max_ns || edge > max ? max : edge;
	return 0;
}

void sparse__add_to(struct lat_hist *hist, const struct sparse *sparse)
{
	hist->sum_ns += sparse->sum_ns;
	hist->tail += sparse->tail;
	if (hist->max_ns < sparse->max_ns)
		hist->max_ns = sparse->max_ns;
	for (uint64_t i = 0; i < sparse->nr; i++)
		hist->slots[sparse->slots[i].slot] += sparse->slots[i].count;
}

const struct lat_hist *sparse__expand(const struct sparse *sparse, struct lat_hist *hist)
{
	memset(hist, 0, sizeof(*hist));
	sparse__add_to(hist, sparse);
	return hist;
}

/* Index of the slot, or of its insertion point. */
static uint64_t place_of(const struct sparse *sparse, uint32_t slot)
{
	uint64_t low = 0, high = sparse->nr;

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (sparse->slots[middle].slot < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int sparse__add_slot(struct sparse *sparse, uint32_t slot, uint64_t count)
{
	uint64_t place = place_of(sparse, slot);
	struct sparse_slot *at;
	int err;

	if (!count)
		return 0;
	if (place < sparse->nr && sparse->slots[place].slot == slot) {
		at = &sparse->slots[place];
		if (at->count + count < count)
			return -EOVERFLOW;
		at->count += count;
		return 0;
	}
	err = make_room(sparse, sparse->nr + 1);
	if (err)
		return err;
	at = &sparse->slots[place];
	memmove(at + 1, at, (sparse->nr++ - place) * sizeof(*at));
	*at = (struct sparse_slot){ slot, count };
	return 0;
}

int sparse__add(struct sparse *to, const struct sparse *from)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < from->nr; i++)
		err = sparse__add_slot(to, from->slots[i].slot, from->slots[i].count);
	if (err)
		return err;
	to->sum_ns += from->sum_ns;
	to->tail += from->tail;
	if (to->max_ns < from->max_ns)
		to->max_ns = from->max_ns;
	return 0;
}

uint64_t sparse__count_from(const struct sparse *sparse, uint32_t first)
{
	uint64_t count = 0;

	for (uint64_t i = sparse->nr; i-- > 0 && sparse->slots[i].slot >= first;)
		count += sparse->slots[i].count;
	return count;
}

uint64_t sparse__count(const struct sparse *sparse)
{
	return sparse__count_from(sparse, 0);
}

void sparse__zero(struct sparse *sparse)
{
	sparse->sum_ns = sparse->max_ns = sparse->tail = sparse->nr = 0;
}

void sparse__clear(struct sparse *sparse)
{
	free(sparse->slots);
	memset(sparse, 0, sizeof(*sparse));
}
