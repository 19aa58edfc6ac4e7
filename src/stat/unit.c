// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <base/hist.h>

int unit__take(struct unit *unit, const struct lat_hist *hist)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		nr += hist->slots[i] > 0;
	unit->slots = calloc(nr + 1, sizeof(*unit->slots));
	if (!unit->slots)
		return -ENOMEM;
	unit->events = 0;
	unit->nr_slots = 0;
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		if (!hist->slots[i])
			continue;
		unit->slots[unit->nr_slots++] = (struct unit_slot){ i, hist->slots[i] };
		unit->events += hist->slots[i];
	}
	unit->tail = hist->tail;
	unit->sum_ns = hist->sum_ns;
	unit->max_ns = hist->max_ns;
	return 0;
}

void unit__clear(struct unit *unit)
{
	free(unit->slots);
	unit->slots = NULL;
	unit->nr_slots = 0;
}

void unit__add_to(struct lat_hist *hist, const struct unit *unit)
{
	hist->sum_ns += unit->sum_ns;
	hist->tail += unit->tail;
	if (hist->max_ns < unit->max_ns)
		hist->max_ns = unit->max_ns;
	for (size_t i = 0; i < unit->nr_slots; i++)
		hist->slots[unit->slots[i].slot] += unit->slots[i].count;
}

bool unit__is_edge(uint64_t ns)
{
	return hist_slot_low_ns(hist_slot(ns)) == ns;
}

void unit__count_tail(struct unit *unit, uint64_t tail_ns)
{
	uint32_t first = hist_slot(tail_ns);

	unit->tail = 0;
	for (size_t i = 0; i < unit->nr_slots; i++) {
		if (unit->slots[i].slot >= first)
			unit->tail += unit->slots[i].count;
	}
}

double unit__variation(const struct unit *unit)
{
	double sum = 0, squares = 0, n = (double)unit->events, middle, variance;

	for (size_t i = 0; i < unit->nr_slots; i++) {
		const struct unit_slot *slot = &unit->slots[i];

		middle = (double)hist_slot_low_ns(slot->slot);
		if (slot->slot < HIST_OVERFLOW_SLOT)
			middle = (middle + (double)hist_slot_low_ns(slot->slot + 1)) / 2;
		sum += middle * (double)slot->count;
		squares += middle * middle * (double)slot->count;
	}
	variance = n ? squares / n - sum / n * (sum / n) : 0;
	return variance > 0 ? sqrt(variance) / (sum / n) : 0;
}

unsigned int unit__batches(unsigned int intervals)
{
	unsigned int batches = (unsigned int)(sqrt(intervals) / 1.3);

	if (intervals < UNIT_LEAST_INTERVALS)
		return 0;
	return batches < 3 ? 3 : batches;
}
