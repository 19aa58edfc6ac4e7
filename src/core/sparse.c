// SPDX-License-Identifier: BSD-2-Clause
#include "sparse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
