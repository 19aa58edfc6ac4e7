/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the clocks of a socket's boxes. A box that another program stopped for a part of an
 * interval counted fewer clocks than the others, but its time is that of the whole interval. Its
 * clock then seems slow, and its latency in ns long by as much. A box that counted too much, or
 * whose counter was written, seems fast.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_CLOCKS_H
#define LATSCOPE_PROBES_TIERLAT_CLOCKS_H

#include "latency.h"

#define CLOCKS_SPREAD 0.05 /* clocks that differ by less agree */

/* Of one socket; zeroed before the first interval. */
struct tier_clocks {
	double hz[TIER_BOXES]; /* 0: not compared, as the box counts none, or is invalid */
	double last[TIER_BOXES]; /* in an interval before; 0: never known */
	double good[TIER_BOXES]; /* the last one that was not odd */
	bool odd[TIER_BOXES];
	double usual_hz; /* median of those that are not odd; if all are, of all */
	bool alone; /* only one box has a clock */
};

/*
 * Finds the boxes with whose clock too few others agree. `dies`: how many clocks a socket may have.
 * With one, more than half of the boxes must agree; with n, more than one in 2n. If no clock has as
 * many, those stay that are as they were before. So does a single one; it is odd if it changed, but
 * not if it stays at its new value. A box with an uncertain time is odd only if its clock is, for
 * every time that is possible.
 */
void tier_clocks__compare(struct tier_clocks *clocks, const struct tier_share *shares,
			  const struct tier_delta *deltas, unsigned int boxes, unsigned int dies);

#endif
