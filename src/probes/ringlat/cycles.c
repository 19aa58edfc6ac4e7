// SPDX-License-Identifier: BSD-2-Clause
#include "cycles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS (RING_EXACT + HIST_SLOTS)
#define LIMIT (1ULL << (HIST_SUB_BITS + HIST_OCTAVES)) /* end of hist.h's scheme */

void ring_hist__add(struct ring_hist *hist, uint64_t cycles)
{
	if (!hist->count++ || cycles < hist->min)
		hist->min = cycles;
	if (cycles > hist->max)
		hist->max = cycles;
	hist->sum += cycles;
	if (cycles < RING_EXACT)
		hist->exact[cycles]++;
	else
		hist->slots[cycles < LIMIT ? hist_scaled_slot(cycles) : HIST_OVERFLOW_SLOT]++;
}

static void edges_of(uint32_t index, struct ring_bucket *bucket)
{
	uint32_t slot = index - RING_EXACT;

	if (index < RING_EXACT) {
		bucket->low = index;
		bucket->high = index + 1;
		return;
	}
	bucket->low = hist_slot_scaled_low(slot);
	bucket->high = slot == HIST_OVERFLOW_SLOT ? UINT64_MAX : hist_slot_scaled_low(slot + 1);
}

bool ring_hist__next(const struct ring_hist *hist, struct ring_bucket *bucket)
{
	for (uint32_t i = bucket->next; i < BUCKETS; i++) {
		uint64_t count = i < RING_EXACT ? hist->exact[i] : hist->slots[i - RING_EXACT];

		if (!count)
			continue;
		edges_of(i, bucket);
		bucket->count = count;
		bucket->next = i + 1;
		return true;
	}
	return false;
}

/* Assumes that the samples of a bucket are spread evenly over it. */
static double place(const struct ring_bucket *bucket, uint64_t nth, const struct ring_hist *hist)
{
	double value, width = (double)(bucket->high - bucket->low);

	if (width <= 1)
		return (double)bucket->low;
	value = (double)bucket->low + width * ((double)nth - 0.5) / (double)bucket->count;
	return fmin(fmax(value, (double)hist->min), (double)hist->max);
}

double ring_hist__quantile(const struct ring_hist *hist, unsigned int permille)
{
	uint64_t rank = (hist->count * permille + 999) / 1000, below = 0;
	struct ring_bucket bucket = { 0 };

	while (ring_hist__next(hist, &bucket)) {
		if (rank <= below + bucket.count)
			return place(&bucket, rank - below, hist);
		below += bucket.count;
	}
	return 0;
}

static double net(double cycles, double baseline)
{
	return cycles > baseline ? cycles - baseline : 0;
}

static double net_mean(const struct ring_hist *hist, double baseline)
{
	return hist->count ? net((double)hist->sum / (double)hist->count, baseline) : 0;
}

void ring_summary__of(struct ring_summary *summary, const struct ring_hist *hist, double baseline)
{
	summary->kept = hist->count;
	summary->baseline = baseline;
	summary->min = net((double)hist->min, baseline);
	summary->p50 = net(ring_hist__quantile(hist, 500), baseline);
	summary->mean = net_mean(hist, baseline);
	summary->p99 = net(ring_hist__quantile(hist, 990), baseline);
	summary->p999 = net(ring_hist__quantile(hist, 999), baseline);
	summary->max = net((double)hist->max, baseline);
}

static int by_size(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

uint64_t ring__median(uint64_t *values, size_t nr)
{
	qsort(values, nr, sizeof(values[0]), by_size);
	return values[nr / 2];
}

double ring__ns(double cycles, uint64_t tsc_khz)
{
	return tsc_khz ? cycles * 1e6 / (double)tsc_khz : 0;
}

void ring_hist__to_ns(const struct ring_hist *hist, double baseline, uint64_t tsc_khz,
		      uint64_t tail_ns, struct lat_hist *ns)
{
	struct ring_bucket bucket = { 0 };

	memset(ns, 0, sizeof(*ns));
	while (ring_hist__next(hist, &bucket)) {
		double middle = ((double)bucket.low + (double)(bucket.high - 1)) / 2;
		uint64_t value = (uint64_t)(ring__ns(net(middle, baseline), tsc_khz) + 0.5);

		ns->slots[hist_slot(value)] += bucket.count;
		if (tail_ns && value >= tail_ns)
			ns->tail += bucket.count;
	}
	ns->sum_ns = (uint64_t)(ring__ns(net_mean(hist, baseline), tsc_khz) * (double)hist->count);
	ns->max_ns = (uint64_t)(ring__ns(net((double)hist->max, baseline), tsc_khz) + 0.5);
}
