// SPDX-License-Identifier: BSD-2-Clause
#include "figures.h"

#include <math.h>
#include <string.h>

#define MASK ((1ULL << TIER_BITS) - 1)
#define CERTAIN 0.002 /* what may be off by more of its length is not certain */

void tier_share__out(struct tier_share *shares, unsigned int boxes, unsigned int tiers,
		     bool one_filter)
{
	for (unsigned int i = 0; i < boxes; i++) {
		unsigned int own = i % tiers;

		shares[i].tier = (int)own;
		shares[i].other = TIER_NO_TIER;
		/* Another one in each round: after tiers - 1 rounds all have met all. */
		if (tiers > 1 && !one_filter)
			shares[i].other = (int)((own + 1 + i / tiers % (tiers - 1)) % tiers);
	}
}

uint64_t tier_delta__wrapped(uint64_t prev, uint64_t cur)
{
	return (cur - prev) & MASK;
}

/* What the boxes of one tier add up to. */
struct sums {
	unsigned int boxes, counting; /* that measure its latency; that count its inserts */
	uint64_t inserts;
	double occupancy_ns; /* requests open, times ns */
	double occupancy_clocks;
	double rate, clock_hz, elapsed_ns;
};

static bool has_counted(const struct tier_delta *delta)
{
	return delta->valid && delta->clocks && delta->counted_ns;
}

static bool is_certain(const struct tier_delta *delta)
{
	return (double)delta->uncertain_ns <= CERTAIN * (double)delta->counted_ns;
}

/* Mean length of a clock, of those whose time is certain; 0: it is of none. */
static double mean_clock_ns(const struct tier_delta *deltas, unsigned int boxes)
{
	double sum = 0;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < boxes; i++) {
		if (!has_counted(&deltas[i]) || !is_certain(&deltas[i]))
			continue;
		sum += (double)deltas[i].counted_ns / (double)deltas[i].clocks;
		nr++;
	}
	return nr ? sum / nr : 0;
}

static double counted_ns(const struct tier_delta *delta, double clock_ns)
{
	if (is_certain(delta) || !(clock_ns > 0))
		return (double)delta->counted_ns;
	return (double)delta->clocks * clock_ns;
}

static void add_latency(struct sums *sums, const struct tier_delta *delta, double ns)
{
	double clock_ns = ns / (double)delta->clocks;

	sums->boxes++;
	sums->inserts += delta->inserts;
	sums->occupancy_clocks += (double)delta->occupancy;
	sums->occupancy_ns += (double)delta->occupancy * clock_ns;
	sums->clock_hz += 1e9 / clock_ns;
	sums->elapsed_ns += (double)delta->elapsed_ns;
}

/* Its inserts per second, as if it had counted all the time. */
static void add_rate(struct sums *sums, uint64_t inserts, double ns)
{
	sums->counting++;
	sums->rate += (double)inserts * 1e9 / ns;
}

static void add_box(struct sums *sums, int tier, const struct tier_share *share,
		    const struct tier_delta *delta, double clock_ns)
{
	double ns;

	if (!has_counted(delta))
		return;
	ns = counted_ns(delta, clock_ns);
	if (share->tier == tier) {
		add_latency(sums, delta, ns);
		add_rate(sums, delta->inserts, ns);
	} else if (share->other == tier) {
		add_rate(sums, delta->other, ns);
	}
}

void tier_figures__of(struct tier_figures *figures, unsigned int tier,
		      const struct tier_share *shares, const struct tier_delta *deltas,
		      unsigned int boxes, uint64_t min_inserts)
{
	double clock_ns = mean_clock_ns(deltas, boxes);
	struct sums sums = { 0 };

	memset(figures, 0, sizeof(*figures));
	for (unsigned int i = 0; i < boxes; i++) {
		figures->boxes_lost += !deltas[i].valid;
		add_box(&sums, (int)tier, &shares[i], &deltas[i], clock_ns);
	}
	figures->all_boxes = boxes;
	figures->boxes = sums.boxes;
	figures->inserts = sums.inserts;
	if (sums.counting) {
		figures->rate_known = true;
		figures->rate = sums.rate * boxes / sums.counting;
	}
	if (!sums.boxes)
		return;
	figures->elapsed_ns = sums.elapsed_ns / sums.boxes;
	figures->clock_hz = sums.clock_hz / sums.boxes;
	if (!sums.inserts || sums.inserts < min_inserts)
		return;
	figures->latency_known = true;
	figures->latency_clocks = sums.occupancy_clocks / (double)sums.inserts;
	figures->latency_ns = sums.occupancy_ns / (double)sums.inserts;
	figures->outstanding = figures->rate * figures->latency_ns / 1e9;
}

void tier_figures__of_samples(struct tier_figures *figures, const struct tier_model *model,
			      const struct tier_delta *deltas, unsigned int boxes,
			      uint64_t min_samples)
{
	double latency = 0, elapsed_ns = 0;

	memset(figures, 0, sizeof(*figures));
	figures->all_boxes = boxes;
	for (unsigned int i = 0; i < boxes; i++) {
		figures->boxes_lost += !deltas[i].valid;
		if (!deltas[i].valid || !deltas[i].counted_ns)
			continue;
		figures->boxes++;
		figures->inserts += deltas[i].inserts;
		latency += (double)deltas[i].occupancy * model->scale;
		elapsed_ns += (double)deltas[i].elapsed_ns;
	}
	if (!figures->boxes)
		return;
	figures->elapsed_ns = elapsed_ns / figures->boxes;
	if (!figures->inserts || figures->inserts < min_samples)
		return;
	latency /= (double)figures->inserts;
	figures->latency_known = true;
	figures->latency_ns = model->in_ns ? latency : NAN;
	figures->latency_clocks = model->in_ns ? NAN : latency;
	figures->outstanding = NAN;
}

bool tier_figures__in_ns(const struct tier_figures *figures)
{
	return figures->latency_known && isfinite(figures->latency_ns);
}

void tier_ewma__add(struct tier_ewma *ewma, double weight, const struct tier_figures *figures)
{
	double rate = figures->rate_known ? figures->rate : NAN;
	double outstanding = figures->rate_known ? figures->outstanding : NAN;

	if (!tier_figures__in_ns(figures))
		return;
	if (!ewma->begun) {
		*ewma = (struct tier_ewma){ true, outstanding, rate, figures->latency_ns };
		return;
	}
	ewma->outstanding += weight * (outstanding - ewma->outstanding);
	ewma->rate += weight * (rate - ewma->rate);
	ewma->latency_ns += weight * (figures->latency_ns - ewma->latency_ns);
}

double tier_ewma__latency_ns(const struct tier_ewma *ewma)
{
	if (!ewma->begun)
		return NAN;
	return isnan(ewma->rate) ? ewma->latency_ns : ewma->outstanding / ewma->rate * 1e9;
}
