/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From counts to latencies, by pure functions. Little's law: the mean number of requests in
 * flight is their rate times their mean latency. So
 *
 *   latency [clocks] = (sum over clocks of in flight) / (requests begun) = OCCUPANCY / INSERTS
 *   latency [ns]     = latency [clocks] * elapsed [ns] / clocks elapsed
 *
 * The clock is the uncore's, counted by the boxes. It scales with load; the TSC does not.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_LATENCY_H
#define LATSCOPE_PROBES_TIERLAT_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* What else a counter counts than the inserts of a tier, which are given by its position. */
enum tier_event { TIER_NO_TIER = -1, TIER_CLOCKTICKS = -2, TIER_OCCUPANCY = -3 };

/* What the counters of a box count. */
struct tier_share {
	int tier; /* tier whose occupancy counter 0 counts */
	int events[TIER_COUNTERS]; /* a tier: its inserts; else of enum tier_event */
};

/*
 * Assigns `boxes` to the tiers in turn. Where the whole box has one filter (one_filter), it counts
 * only its tier. Otherwise it has counters for the inserts of two tiers and for clocks. With more
 * tiers, most boxes count a third tier instead of clocks, and some instead of their own. So with up
 * to three tiers each box either counts all inserts, or derives those of its own tier from its
 * occupancy.
 */
void tier_share__out(struct tier_share *shares, unsigned int boxes, unsigned int tiers,
		     bool one_filter);

/* With fewer boxes, some tier would have no latency, or no box would count clocks. */
unsigned int tier_share__least(unsigned int tiers);

/* What one box counted in an interval. */
struct tier_delta {
	bool valid; /* false: not counted, or another program interfered; the rest is invalid */
	uint64_t counts[TIER_COUNTERS]; /* AMD: latency of the samples, their number */
	uint64_t elapsed_ns; /* of the interval, as the box saw it */
	uint64_t counted_ns; /* how long the counters ran in it: less if multiplexed */
	uint64_t uncertain_ns; /* error bound of that */
	bool in_part; /* multiplexed: they ran at other times than those of other boxes */
};

/* cur - prev of counters that wrap at 48 bits, at most once. */
uint64_t tier_delta__wrapped(uint64_t prev, uint64_t cur);

/* The count of a tier's inserts or of TIER_CLOCKTICKS. False: no counter of the box counts it. */
bool tier_delta__counted(const struct tier_delta *delta, const struct tier_share *share, int event,
			 uint64_t *count);

/* Is the time of the box known well enough to tell its clock? */
bool tier_delta__is_certain(const struct tier_delta *delta);

/* One tier of one socket in one interval. */
struct tier_latency {
	unsigned int boxes; /* that measured its latency */
	unsigned int all_boxes; /* of the socket */
	unsigned int boxes_lost; /* boxes without valid counts, whatever they measure */
	uint64_t inserts; /* requests behind the latency, as counted */
	double elapsed_ns;
	bool rate_known, latency_known;
	double rate; /* requests per second of the whole socket, scaled to all its boxes */
	double latency_ns; /* NAN: known in clocks only. Valid if latency_known, as the next two: */
	double latency_clocks;
	double clock_hz; /* mean uncore clock of the boxes */
	double outstanding; /* mean number of requests in flight of the whole socket */
};

/*
 * Computes a tier from the boxes of a socket. With fewer than min_inserts requests (at least 1),
 * the latency is unknown. A box whose clock stood still, or that ran for no time, is left out. A
 * box that counts no clocks uses the clock of the nearest box that does: dies may differ in it,
 * neighbours do not. The time of a box is uncertain if this process was preempted while it started
 * or stopped the box. Such a box takes its time from its clocks and the clock of the nearest box
 * that is certain; without clocks it keeps its time.
 */
void tier_latency__of(struct tier_latency *result, unsigned int tier,
		      const struct tier_share *shares, const struct tier_delta *deltas,
		      unsigned int boxes, uint64_t min_inserts);

/* What one box counted of one tier, and the time and clock used for it. */
struct tier_raw {
	unsigned int id, tier; /* CHA (AMD: CPU), index into the model's tiers: set by the caller */
	bool own; /* it counts the tier's occupancy */
	bool inserts_known, clocks_known;
	uint64_t occupancy, inserts, clocks;
	double ns, clock_ns; /* AMD: clock_ns is NAN */
};

/* False: nothing valid. */
bool tier_raw__of(struct tier_raw *raw, unsigned int tier, const struct tier_share *shares,
		  const struct tier_delta *deltas, unsigned int boxes, unsigned int box);

/* Is the latency known, in ns? */
bool tier_latency__in_ns(const struct tier_latency *result);

/* AMD: latency sums and numbers of samples; no rate is known. */
void tier_latency__of_samples(struct tier_latency *result, const struct tier_model *model,
			      const struct tier_delta *deltas, unsigned int boxes,
			      uint64_t min_samples);

/*
 * Exponentially weighted mean of outstanding requests and of their rate; of the latency where no
 * rate is known. It starts with the first sample, not with 0. An interval without a latency does
 * not change it.
 */
struct tier_ewma {
	bool begun;
	double outstanding, rate; /* both NAN: */
	double latency_ns; /* counts instead */
};

void tier_ewma__add(struct tier_ewma *ewma, double weight, const struct tier_latency *result);

/* Mean latency in ns; NAN before the first sample. */
double tier_ewma__latency_ns(const struct tier_ewma *ewma);

#endif
