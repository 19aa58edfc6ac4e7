/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What counts as one observation of a latency: a run, or a batch of a run's intervals. Its
 * histogram is kept without the empty slots. Times in ns.
 */
#ifndef LATSCOPE_STATS_OBSERVATION_H
#define LATSCOPE_STATS_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <core/sparse.h>

struct observation {
	unsigned int recording; /* of its side, the one it comes from */
	size_t window; /* of its side: struct side's windows_ns */
	uint64_t events;
	struct sparse hist;
};

/* 0 or -ENOMEM. */
int observation__take(struct observation *observation, const struct lat_hist *hist);
void observation__clear(struct observation *observation);

/* Counts the tail anew; tail_ns is to be the edge of a slot. */
void observation__count_tail(struct observation *observation, uint64_t tail_ns);

/* Is it the edge of a slot, so that it parts the slots without cutting one? */
bool observation__is_edge(uint64_t ns);

/* Spread of one event's latency, as a multiple of the mean; from the slots. 0 without events. */
double observation__variation(const struct observation *observation);

#define OBSERVATION_LEAST_INTERVALS 10

/*
 * How many batches to make of a run's intervals; 0: there are too few to tell anything. Intervals
 * next to each other are alike, so a batch must outlast that. Batches of 1.3 sqrt(intervals) are
 * the length that Lazarus et al. (J. Bus. Econ. Stat. 36 (2018) 541-559) advise for the window of a
 * long-run variance, for the same reason; but there are at least three.
 */
unsigned int observation__batches(unsigned int intervals);

#endif
