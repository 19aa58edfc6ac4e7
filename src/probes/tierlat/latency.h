/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From counts to latencies; pure functions. Little's law: the mean number of open requests is their
 * rate times their mean latency, so that
 *
 *   latency [clocks] = (sum over clocks of open requests) / (requests begun) = OCCUPANCY / INSERTS
 *   latency [ns]     = latency [clocks] * elapsed [ns] / clocks elapsed
 *
 * The clock is the uncore's own, counted by the boxes: it scales with load, and the TSC does not.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_LATENCY_H
#define LATSCOPE_PROBES_TIERLAT_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* Beside the inserts of a tier, which are told by its position. */
enum tier_event { TIER_NO_TIER = -1, TIER_CLOCKTICKS = -2, TIER_OCCUPANCY = -3 };

/* What the counters of a box count. */
struct tier_share {
	int tier; /* whose occupancy counter 0 counts */
	int events[TIER_COUNTERS]; /* a tier: its inserts; else of enum tier_event */
};

/*
 * Shares `boxes` out among the tiers in turn. Where the filter is one of the whole box (one_filter)
 * it counts its tier only. Else it has counters for the inserts of two tiers and for clocks; where
 * there are more tiers, most boxes count a third tier instead of clocks and some instead of their
 * own, so that of up to three tiers each box either counts all inserts, or can tell those of its
 * own by its occupancy.
 */
void tier_share__out(struct tier_share *shares, unsigned int boxes, unsigned int tiers,
		     bool one_filter);

/* With fewer boxes some tier would have no latency, or no box a clock. */
unsigned int tier_share__least(unsigned int tiers);

/* What one box counted in an interval. */
struct tier_delta {
	bool valid; /* false: not counted, or not by us alone; nothing below holds */
	uint64_t counts[TIER_COUNTERS]; /* AMD: latency of the samples, their number */
	uint64_t elapsed_ns; /* of the interval, as the box saw it */
	uint64_t counted_ns; /* of it, how long the counters ran: less if multiplexed */
	uint64_t uncertain_ns; /* by how much that may be off */
};

/* cur - prev of counters that wrap at 48 bits, at most once. */
uint64_t tier_delta__wrapped(uint64_t prev, uint64_t cur);

/* Of a tier's inserts or of TIER_CLOCKTICKS; false: no counter of the box counts it. */
bool tier_delta__counted(const struct tier_delta *delta, const struct tier_share *share, int event,
			 uint64_t *count);

/* One tier of one socket in one interval. */
struct tier_latency {
	unsigned int boxes; /* that measured its latency */
	unsigned int all_boxes; /* of the socket */
	unsigned int boxes_lost; /* of these, whose counts are not there, whatever they measure */
	uint64_t inserts; /* requests behind the latency, as counted */
	double elapsed_ns;
	bool rate_known, latency_known;
	double rate; /* requests per second of the whole socket, scaled to all its boxes */
	double latency_ns; /* NAN: only clocks are; with latency_known, as are these: */
	double latency_clocks;
	double clock_hz; /* mean uncore clock of the boxes */
	double outstanding; /* mean number of open requests of the whole socket */
};

/*
 * Of the boxes of a socket. Fewer than min_inserts requests (at least 1 is always wanted): the
 * latency is not known. A box whose clock stood still, or that ran for no time, is left out. One
 * that counts no clocks has the clock of the nearest that does: dies may differ in it, neighbours
 * do not. One whose time is uncertain, as we were preempted when it was started or stopped, takes
 * it from its clocks and the clock of the nearest that is certain; without clocks it keeps it.
 */
void tier_latency__of(struct tier_latency *figures, unsigned int tier,
		      const struct tier_share *shares, const struct tier_delta *deltas,
		      unsigned int boxes, uint64_t min_inserts);

/* What one box counted of one tier, and what the figures take for its time and clock. */
struct tier_raw {
	unsigned int id, tier; /* CHA (AMD: CPU), index into the model's: left to the caller */
	bool own; /* it counts the tier's occupancy */
	bool inserts_known, clocks_known;
	uint64_t occupancy, inserts, clocks;
	double ns, clock_ns; /* AMD: clock_ns is NAN */
};

/* False: nothing, or what there is does not count. */
bool tier_raw__of(struct tier_raw *raw, unsigned int tier, const struct tier_share *shares,
		  const struct tier_delta *deltas, unsigned int boxes, unsigned int box);

/* Is there a latency, and is it known what it is in time? */
bool tier_latency__in_ns(const struct tier_latency *figures);

/* AMD: latency sums and numbers of samples; no rate is known. */
void tier_latency__of_samples(struct tier_latency *figures, const struct tier_model *model,
			      const struct tier_delta *deltas, unsigned int boxes,
			      uint64_t min_samples);

/*
 * Exponentially weighted mean of outstanding requests and of their rate; where no rate is known, of
 * the latency. It begins with the first sample, not with 0, and an interval without a latency
 * leaves it as it was.
 */
struct tier_ewma {
	bool begun;
	double outstanding, rate; /* both NAN: */
	double latency_ns; /* counts instead */
};

void tier_ewma__add(struct tier_ewma *ewma, double weight, const struct tier_latency *figures);

/* Mean latency in ns; NAN before the first sample. */
double tier_ewma__latency_ns(const struct tier_ewma *ewma);

#endif
