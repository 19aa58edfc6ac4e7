/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations on the histograms of event.h. Latencies are in ns. */
#ifndef LATSCOPE_CORE_HIST_H
#define LATSCOPE_CORE_HIST_H

#include <stdint.h>

#include <latscope/event.h>

/* Number of samples, with the overflow slot. */
uint64_t hist__count(const struct lat_hist *hist);

void hist__add(struct lat_hist *to, const struct lat_hist *from);

/*
 * delta = now - before, two readings of one histogram. delta->max_ns is exact only if it is the
 * largest of all; otherwise it is the last ns of the highest slot that gained. delta may be now or
 * before.
 */
void hist__delta(struct lat_hist *delta, const struct lat_hist *now, const struct lat_hist *before);

/*
 * What the tail became, `now`, if it was `before` and the slots say that it got `least` to `most`.
 */
uint64_t hist__fit_tail(uint64_t now, uint64_t before, uint64_t least, uint64_t most);

/*
 * For `now`, a copy that was made while samples came, its tail first, and the copy `before`: a
 * sample is in its slot a moment before it is in the tail. Gives the tail all that came since
 * `before` to slots from tail_ns on, and no more than came to those that reach tail_ns.
 */
void hist__settle_tail(struct lat_hist *now, const struct lat_hist *before, uint64_t tail_ns);

/* 0 if empty. */
double hist__mean_ns(const struct lat_hist *hist);

/*
 * The sample of rank ceil(q * count), 0 < q <= 1, interpolated within its slot: off by less than a
 * slot, which is 1/32 of the value, and 1/32 us below 1 us. Never above max_ns; 0 if empty.
 */
uint64_t hist__quantile_ns(const struct lat_hist *hist, double q);

/* The same with a known number of samples. */
uint64_t hist__quantile_of(const struct lat_hist *hist, uint64_t count, double q);

void hist__log2(const struct lat_hist *hist, uint64_t buckets[HIST_LOG2_BUCKETS]);

/* Highest log2 bucket that is not empty, -1 if none. */
int hist__top_bucket(const struct lat_hist *hist);

void hist__add_cell(struct lat_cell *to, const struct lat_cell *from);

/* As hist__delta(), with every counter. */
void hist__delta_cell(struct lat_cell *delta, const struct lat_cell *now,
		      const struct lat_cell *before);

#endif
