/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of TSC ticks with a fixed size. Below RING_EXACT, where crossings are, each tick has
 * its own bucket. Above, the buckets are those of hist.h, in ticks instead of 1/32 us: at most 1/32
 * of the value wide.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_CYCLES_H
#define LATSCOPE_PROBES_RINGLAT_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <latscope/event.h>

#define RING_EXACT 4096

struct ring_hist {
	uint64_t count;
	uint64_t sum;
	uint64_t min; /* valid if count is not 0 */
	uint64_t max;
	uint64_t exact[RING_EXACT];
	uint64_t slots[HIST_SLOTS];
};

void ring_hist__add(struct ring_hist *hist, uint64_t cycles);

struct ring_bucket {
	uint32_t next; /* next bucket; 0 to begin */
	uint64_t low, high; /* [low, high) */
	uint64_t count;
};

/* The next non-empty bucket. False: there is none. */
bool ring_hist__next(const struct ring_hist *hist, struct ring_bucket *bucket);

/*
 * The sample of rank ceil(permille / 1000 * count): exact below RING_EXACT, interpolated within its
 * bucket above. 0 if empty.
 */
double ring_hist__quantile(const struct ring_hist *hist, unsigned int permille);

/* In ticks, minus the baseline, at least 0. */
struct ring_summary {
	uint64_t kept;
	double baseline;
	double min, p50, mean, p99, p999, max;
};

/* The baseline is subtracted: the median of windows of the same code without a crossing; or 0. */
void ring_summary__of(struct ring_summary *summary, const struct ring_hist *hist, double baseline);

/*
 * Converts to a histogram of ns. Sum and maximum are exact; a sample above RING_EXACT counts as the
 * middle of its bucket. tail_ns as in struct lat_config.
 */
void ring_hist__to_ns(const struct ring_hist *hist, double baseline, uint64_t tsc_khz,
		      uint64_t tail_ns, struct lat_hist *ns);

/* The median. Sorts the values. */
uint64_t ring__median(uint64_t *values, size_t nr);

/* Ticks to ns. */
double ring__ns(double cycles, uint64_t tsc_khz);

#endif
