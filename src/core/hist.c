// SPDX-License-Identifier: BSD-2-Clause
#include "hist.h"

#include <stdbool.h>
#include <string.h>

uint64_t hist__count(const struct lat_hist *hist)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < HIST_SLOTS; i++)
		count += hist->slots[i];
	return count;
}

void hist__add(struct lat_hist *to, const struct lat_hist *from)
{
	to->sum_ns += from->sum_ns;
	to->tail += from->tail;
	if (to->max_ns < from->max_ns)
		to->max_ns = from->max_ns;
	for (unsigned int i = 0; i < HIST_SLOTS; i++)
		to->slots[i] += from->slots[i];
}

void hist__delta(struct lat_hist *delta, const struct lat_hist *now, const struct lat_hist *before)
{
	uint64_t max = now->max_ns, edge = 0;
	bool grew = now->max_ns > before->max_ns;

	delta->sum_ns = now->sum_ns - before->sum_ns;
	delta->tail = now->tail - before->tail;
	for (unsigned int i = 0; i < HIST_SLOTS; i++) {
		delta->slots[i] = now->slots[i] - before->slots[i];
		if (delta->slots[i])
			edge = i == HIST_OVERFLOW_SLOT ? max : hist_slot_low_ns(i + 1) - 1;
	}
	delta->max_ns = grew || edge > max ? max : edge;
}

uint64_t hist__fit_tail(uint64_t now, uint64_t before, uint64_t least, uint64_t most)
{
	int64_t gained = (int64_t)(now - before); /* below 0: `before` got what is still to come */

	if (gained < (int64_t)least)
		return before + least;
	return before + (gained > (int64_t)most ? most : (uint64_t)gained);
}

void hist__settle_tail(struct lat_hist *now, const struct lat_hist *before, uint64_t tail_ns)
{
	uint32_t first = hist_slot(tail_ns);
	uint64_t least = 0, most;

	for (uint32_t slot = first + 1; slot < HIST_SLOTS; slot++)
		least += now->slots[slot] - before->slots[slot];
	most = least + now->slots[first] - before->slots[first];
	if (hist_slot_low_ns(first) == tail_ns)
		least = most;
	now->tail = hist__fit_tail(now->tail, before->tail, least, most);
}

double hist__mean_ns(const struct lat_hist *hist)
{
	uint64_t count = hist__count(hist);

	return count ? (double)hist->sum_ns / (double)count : 0;
}

/* ceil() would pull in libm. The allowance keeps 0.07 * 100 at 7, as it reads. */
static uint64_t rank_of(double q, uint64_t count)
{
	double exact = q * (double)count - 1e-6;
	uint64_t rank;

	if (exact >= (double)count)
		return count;
	if (exact <= 1)
		return 1;
	rank = (uint64_t)exact;
	return (double)rank < exact ? rank + 1 : rank;
}

/* Samples of a slot are taken as spread evenly over it, each in the middle of its share. */
static uint64_t interpolate(const struct lat_hist *hist, unsigned int slot, uint64_t nth)
{
	uint64_t low = hist_slot_low_ns(slot), high = hist->max_ns, ns;

	if (slot != HIST_OVERFLOW_SLOT && hist_slot_low_ns(slot + 1) < high)
		high = hist_slot_low_ns(slot + 1);
	if (high <= low)
		return hist->max_ns;
	ns = low +
	     (uint64_t)((double)(high - low) * ((double)nth - 0.5) / (double)hist->slots[slot]);
	return ns < hist->max_ns ? ns : hist->max_ns;
}

uint64_t hist__quantile_ns(const struct lat_hist *hist, double q)
{
	return hist__quantile_of(hist, hist__count(hist), q);
}

uint64_t hist__quantile_of(const struct lat_hist *hist, uint64_t count, double q)
{
	uint64_t rank, below = 0;

	if (!count)
		return 0;
	rank = rank_of(q, count);
	if (rank == count)
		return hist->max_ns;
	for (unsigned int i = 0; i < HIST_SLOTS; i++) {
		if (rank <= below + hist->slots[i])
			return interpolate(hist, i, rank - below);
		below += hist->slots[i];
	}
	return hist->max_ns;
}

void hist__log2(const struct lat_hist *hist, uint64_t buckets[HIST_LOG2_BUCKETS])
{
	memset(buckets, 0, HIST_LOG2_BUCKETS * sizeof(buckets[0]));
	for (unsigned int i = 0; i < HIST_SLOTS; i++)
		buckets[hist_slot_bucket(i)] += hist->slots[i];
}

int hist__top_bucket(const struct lat_hist *hist)
{
	for (unsigned int i = HIST_SLOTS; i-- > 0;) {
		if (hist->slots[i])
			return (int)hist_slot_bucket(i);
	}
	return -1;
}

void hist__add_cell(struct lat_cell *to, const struct lat_cell *from)
{
	for (unsigned int i = 0; i < LAT_COUNTS; i++)
		to->counts[i] += from->counts[i];
	hist__add(&to->hist, &from->hist);
}

void hist__delta_cell(struct lat_cell *delta, const struct lat_cell *now,
		      const struct lat_cell *before)
{
	for (unsigned int i = 0; i < LAT_COUNTS; i++)
		delta->counts[i] = now->counts[i] - before->counts[i];
	hist__delta(&delta->hist, &now->hist, &before->hist);
}
