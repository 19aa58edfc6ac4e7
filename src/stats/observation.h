/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One observation of a latency: a run, or a batch of a run's intervals. Its histogram is sparse.
 * Times in ns.
 */
#ifndef LATSCOPE_STATS_OBSERVATION_H
#define LATSCOPE_STATS_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <core/sparse.h>

struct observation {
	unsigned int recording; /* index in its group */
	size_t window; /* index into the group's windows_ns */
	uint64_t events;
	struct sparse hist;
};

/* 0 or -ENOMEM. */
int observation__take(struct observation *observation, const struct lat_hist *hist);
void observation__clear(struct observation *observation);

/* Recounts the tail; tail_ns must be the edge of a slot. */
void observation__count_tail(struct observation *observation, uint64_t tail_ns);

/* Is it the edge of a slot? */
bool observation__is_edge(uint64_t ns);

/* Spread of one event's latency, as a multiple of the mean; from the slots. 0 without events. */
double observation__variation(const struct observation *observation);

#define OBSERVATION_LEAST_INTERVALS 10

/*
 * Number of batches to make of a run's intervals; 0: too few intervals. A batch must be longer than
 * the autocorrelation of intervals. 1.3 sqrt(intervals) is the length that Lazarus et al. (J. Bus.
 * Econ. Stat. 36 (2018) 541-559) recommend for the window of a long-run variance, for the same
 * reason; there are at least three batches.
 */
unsigned int observation__batches(unsigned int intervals);

#endif
