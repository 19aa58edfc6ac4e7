// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include <math.h>
#include <string.h>

#include <base/hist.h>

int unit__take(struct unit *unit, const struct lat_hist *hist)
{
	memset(&unit->hist, 0, sizeof(unit->hist));
	unit->events = hist__count(hist);
	return sparse__set(&unit->hist, hist);
}

void unit__clear(struct unit *unit)
{
	sparse__clear(&unit->hist);
}

bool unit__is_edge(uint64_t ns)
{
	return hist_slot_low_ns(hist_slot(ns)) == ns;
}

void unit__count_tail(struct unit *unit, uint64_t tail_ns)
{
	unit->hist.tail = sparse__count_from(&unit->hist, hist_slot(tail_ns));
}

double unit__variation(const struct unit *unit)
{
	double sum = 0, squares = 0, n = (double)unit->events, middle, variance;

	for (uint64_t i = 0; i < unit->hist.nr; i++) {
		const struct sparse_slot *slot = &unit->hist.slots[i];

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
