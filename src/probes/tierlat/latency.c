// SPDX-License-Identifier: BSD-2-Clause
#include "latency.h"

#include <math.h>
#include <string.h>

#define MASK ((1ULL << TIER_BITS) - 1)
#define CERTAIN 0.002 /* a time with a larger relative error is uncertain */

unsigned int tier_share__least(unsigned int tiers)
{
	return tiers < 3 ? tiers : tiers + 1;
}

/* The spacing at which each tier is in turn the tier of such a box. */
static bool counts_clock(unsigned int box, unsigned int tiers)
{
	return box % (tiers + 1) == tiers;
}

/* Different pairs in each round: after tiers - 1 rounds each tier was paired with each other. */
static int other_tier(unsigned int box, unsigned int tiers, unsigned int n)
{
	return (int)((box % tiers + 1 + (box / tiers + n) % (tiers - 1)) % tiers);
}

void tier_share__out(struct tier_share *shares, unsigned int boxes, unsigned int tiers,
		     bool one_filter)
{
	bool alone = tiers == 1 || one_filter;
	bool both = tiers < 3 || one_filter; /* there is room for clocks and its own inserts */

	for (unsigned int i = 0; i < boxes; i++) {
		struct tier_share *share = &shares[i];
		unsigned int next = 0, others = 0;

		share->tier = (int)(i % tiers);
		share->events[next++] = TIER_OCCUPANCY;
		if (both || !counts_clock(i, tiers))
			share->events[next++] = share->tier;
		if (both || counts_clock(i, tiers))
			share->events[next++] = TIER_CLOCKTICKS;
		while (next < TIER_COUNTERS)
			share->events[next++] =
				alone ? TIER_NO_TIER : other_tier(i, tiers, others++);
	}
}

uint64_t tier_delta__wrapped(uint64_t prev, uint64_t cur)
{
	return (cur - prev) & MASK;
}

bool tier_delta__counted(const struct tier_delta *delta, const struct tier_share *share, int event,
			 uint64_t *count)
{
	for (unsigned int i = 1; i < TIER_COUNTERS; i++) {
		if (share->events[i] != event)
			continue;
		*count = delta->counts[i];
		return true;
	}
	return false;
}

bool tier_delta__is_certain(const struct tier_delta *delta)
{
	return (double)delta->uncertain_ns <= CERTAIN * (double)delta->counted_ns;
}

/* All boxes of a socket. */
struct boxes {
	const struct tier_share *shares;
	const struct tier_delta *deltas;
	unsigned int nr;
};

/* Sums over the boxes of one tier. */
struct sums {
	/* boxes that measure its latency; boxes that count its inserts */
	unsigned int boxes, counting;
	unsigned int inferring; /* boxes that count only its occupancy */
	uint64_t inserts;
	double occupancy_ns; /* requests open, times ns */
	double occupancy_clocks;
	double rate, clock_hz, elapsed_ns;
	double open; /* mean number of open requests in the boxes that infer inserts */
};

/* Clock period by the box's own count; 0: it does not count clocks. */
static double own_clock_ns(const struct boxes *boxes, unsigned int i, bool certain)
{
	const struct tier_delta *delta = &boxes->deltas[i];
	uint64_t clocks;

	if (!delta->valid || (certain && !tier_delta__is_certain(delta)) ||
	    !tier_delta__counted(delta, &boxes->shares[i], TIER_CLOCKTICKS, &clocks) || !clocks)
		return 0;
	return (double)delta->counted_ns / (double)clocks;
}

/* Clock period by the nearest box that counts clocks (possibly itself); 0: there is none. */
static double nearest_clock_ns(const struct boxes *boxes, unsigned int i, bool certain)
{
	for (unsigned int far = 0; far < boxes->nr; far++) {
		double below = i >= far ? own_clock_ns(boxes, i - far, certain) : 0;
		double above = i + far < boxes->nr ? own_clock_ns(boxes, i + far, certain) : 0;

		if (below > 0 || above > 0)
			return below > 0 ? below : above;
	}
	return certain ? nearest_clock_ns(boxes, i, false) : 0;
}

/* How long a box counted, and with which clock. */
struct count {
	double ns, clock_ns;
	uint64_t occupancy;
};

/* False: the value is not a valid count. */
static bool count_of(struct count *count, const struct boxes *boxes, unsigned int i)
{
	const struct tier_delta *delta = &boxes->deltas[i];
	uint64_t clocks = 0;
	bool clocked = tier_delta__counted(delta, &boxes->shares[i], TIER_CLOCKTICKS, &clocks);

	if (!delta->valid || !delta->counted_ns || (clocked && !clocks))
		return false;
	count->occupancy = delta->counts[0];
	count->ns = (double)delta->counted_ns;
	count->clock_ns = nearest_clock_ns(boxes, i, true);
	if (clocked && !tier_delta__is_certain(delta))
		count->ns = (double)clocks * count->clock_ns;
	return count->clock_ns > 0;
}

static void add_latency(struct sums *sums, const struct count *count, uint64_t inserts,
			uint64_t elapsed_ns)
{
	sums->boxes++;
	sums->inserts += inserts;
	sums->occupancy_clocks += (double)count->occupancy;
	sums->occupancy_ns += (double)count->occupancy * count->clock_ns;
	sums->clock_hz += 1e9 / count->clock_ns;
	sums->elapsed_ns += (double)elapsed_ns;
}

static void add_box(struct sums *sums, int tier, const struct boxes *boxes, unsigned int i)
{
	const struct tier_share *share = &boxes->shares[i];
	const struct tier_delta *delta = &boxes->deltas[i];
	struct count count;
	uint64_t inserts;

	if (!count_of(&count, boxes, i))
		return;
	if (tier_delta__counted(delta, share, tier, &inserts)) {
		/* Per second, scaled to the whole interval. */
		sums->counting++;
		sums->rate += (double)inserts * 1e9 / count.ns;
		if (share->tier == tier)
			add_latency(sums, &count, inserts, delta->elapsed_ns);
	} else if (share->tier == tier) {
		sums->inferring++;
		sums->open += (double)count.occupancy * count.clock_ns / count.ns;
	}
}

static void set_latency(struct tier_latency *result, const struct sums *sums, uint64_t min_inserts)
{
	if (!sums->boxes)
		return;
	result->elapsed_ns = sums->elapsed_ns / sums->boxes;
	result->clock_hz = sums->clock_hz / sums->boxes;
	if (!sums->inserts || sums->inserts < min_inserts)
		return;
	result->latency_known = true;
	result->latency_clocks = sums->occupancy_clocks / (double)sums->inserts;
	result->latency_ns = sums->occupancy_ns / (double)sums->inserts;
}

/* Little's law again, for boxes that count open requests but not inserts. */
static void infer_rate(struct sums *sums, const struct tier_latency *result)
{
	if (!result->latency_known || !(result->latency_ns > 0))
		return;
	sums->counting += sums->inferring;
	sums->rate += sums->open * 1e9 / result->latency_ns;
}

void tier_latency__of(struct tier_latency *result, unsigned int tier,
		      const struct tier_share *shares, const struct tier_delta *deltas,
		      unsigned int boxes, uint64_t min_inserts)
{
	const struct boxes all = { shares, deltas, boxes };
	struct sums sums = { 0 };

	memset(result, 0, sizeof(*result));
	for (unsigned int i = 0; i < boxes; i++) {
		result->boxes_lost += !deltas[i].valid;
		add_box(&sums, (int)tier, &all, i);
	}
	result->all_boxes = boxes;
	result->boxes = sums.boxes;
	result->inserts = sums.inserts;
	set_latency(result, &sums, min_inserts);
	infer_rate(&sums, result);
	if (!sums.counting)
		return;
	result->rate_known = true;
	result->rate = sums.rate * boxes / sums.counting;
	result->outstanding = result->rate * result->latency_ns / 1e9;
}

void tier_latency__of_samples(struct tier_latency *result, const struct tier_model *model,
			      const struct tier_delta *deltas, unsigned int boxes,
			      uint64_t min_samples)
{
	double latency = 0, elapsed_ns = 0;

	memset(result, 0, sizeof(*result));
	result->all_boxes = boxes;
	for (unsigned int i = 0; i < boxes; i++) {
		result->boxes_lost += !deltas[i].valid;
		if (!deltas[i].valid || !deltas[i].counted_ns)
			continue;
		result->boxes++;
		result->inserts += deltas[i].counts[1];
		latency += (double)deltas[i].counts[0] * TIER_AMD_SCALE;
		elapsed_ns += (double)deltas[i].elapsed_ns;
	}
	if (!result->boxes)
		return;
	result->elapsed_ns = elapsed_ns / result->boxes;
	if (!result->inserts || result->inserts < min_samples)
		return;
	latency /= (double)result->inserts;
	result->latency_known = true;
	result->latency_ns = model->in_ns ? latency : NAN;
	result->latency_clocks = model->in_ns ? NAN : latency;
	result->outstanding = NAN;
}

bool tier_raw__of(struct tier_raw *raw, unsigned int tier, const struct tier_share *shares,
		  const struct tier_delta *deltas, unsigned int boxes, unsigned int box)
{
	const struct boxes all = { shares, deltas, boxes };
	const struct tier_share *share = &shares[box];
	struct count count;

	*raw = (struct tier_raw){ .own = share->tier == (int)tier };
	raw->inserts_known = tier_delta__counted(&deltas[box], share, (int)tier, &raw->inserts);
	if ((!raw->own && !raw->inserts_known) || !count_of(&count, &all, box))
		return false;
	raw->clocks_known = tier_delta__counted(&deltas[box], share, TIER_CLOCKTICKS, &raw->clocks);
	raw->occupancy = count.occupancy;
	raw->ns = count.ns;
	raw->clock_ns = count.clock_ns;
	return true;
}

bool tier_latency__in_ns(const struct tier_latency *result)
{
	return result->latency_known && isfinite(result->latency_ns);
}

void tier_ewma__add(struct tier_ewma *ewma, double weight, const struct tier_latency *result)
{
	double rate = result->rate_known ? result->rate : NAN;
	double outstanding = result->rate_known ? result->outstanding : NAN;

	if (!tier_latency__in_ns(result))
		return;
	if (!ewma->begun) {
		*ewma = (struct tier_ewma){ true, outstanding, rate, result->latency_ns };
		return;
	}
	ewma->outstanding += weight * (outstanding - ewma->outstanding);
	ewma->rate += weight * (rate - ewma->rate);
	ewma->latency_ns += weight * (result->latency_ns - ewma->latency_ns);
}

double tier_ewma__latency_ns(const struct tier_ewma *ewma)
{
	if (!ewma->begun)
		return NAN;
	return isnan(ewma->rate) ? ewma->latency_ns : ewma->outstanding / ewma->rate * 1e9;
}
