/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares: events of a kind among all events. */
#ifndef LATSCOPE_STATS_SHARE_H
#define LATSCOPE_STATS_SHARE_H

#include <stdint.h>

struct share_interval {
	double low, high;
};

/*
 * Wilson's score interval (E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212). It assumes
 * independent events, which the events of one run are not: use it as a description, not as a test.
 * 0 to 1 if there are no events.
 */
struct share_interval share__wilson(uint64_t part, uint64_t whole, double confidence);

/* (on / (1 - on)) / (off / (1 - off)) of two shares; NAN if undefined. */
double share__odds_ratio(double off, double on);

#endif
