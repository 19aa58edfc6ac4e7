// SPDX-License-Identifier: BSD-2-Clause
#include "observation.h"

#include <math.h>
#include <string.h>

#include <core/hist.h>

int observation__take(struct observation *observation, const struct lat_hist *hist)
{
	memset(&observation->hist, 0, sizeof(observation->hist));
	observation->events = hist__count(hist);
	return sparse__set(&observation->hist, hist);
}

void observation__clear(struct observation *observation)
{
	sparse__clear(&observation->hist);
}

bool observation__is_edge(uint64_t ns)
{
	return hist_slot_low_ns(hist_slot(ns)) == ns;
}

void observation__count_tail(struct observation *observation, uint64_t tail_ns)
{
	observation->hist.tail = sparse__count_from(&observation->hist, hist_slot(tail_ns));
}

double observation__variation(const struct observation *observation)
{
	double sum = 0, squares = 0, n = (double)observation->events, middle, variance;

	for (uint64_t i = 0; i < observation->hist.nr; i++) {
		const struct sparse_slot *slot = &observation->hist.slots[i];

		middle = (double)hist_slot_low_ns(slot->slot);
		if (slot->slot < HIST_OVERFLOW_SLOT)
			middle = (middle + (double)hist_slot_low_ns(slot->slot + 1)) / 2;
		sum += middle * (double)slot->count;
		squares += middle * middle * (double)slot->count;
	}
	variance = n ? squares / n - sum / n * (sum / n) : 0;
	return variance > 0 ? sqrt(variance) / (sum / n) : 0;
}

unsigned int observation__batches(unsigned int intervals)
{
	unsigned int batches = (unsigned int)(sqrt(intervals) / 1.3);

	if (intervals < OBSERVATION_LEAST_INTERVALS)
		return 0;
	return batches < 3 ? 3 : batches;
}
