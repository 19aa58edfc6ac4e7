/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colloid's decision (Vuppalapati and Agarwal, SOSP 2024): which share of the accesses should move
 * between the default tier (l) and the alternate one (r) so that both are equally slow. In both
 * forms of its code for HeMem (webglider/hemem, src/pebs.c of branch sosp24ae): a binary search on
 * the share p of the default tier, and a closed form. Pure functions.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_COLLOID_H
#define LATSCOPE_PROBES_TIERLAT_COLLOID_H

#include <stdbool.h>

#define COLLOID_DELTA 0.05 /* occupancies that differ by less, relative to l, are equal */
#define COLLOID_EPSILON 0.01 /* below this width the search restarts: the load changed */
#define COLLOID_MAX_SHIFT 0.02 /* share of all requests, in one quantum */

struct colloid_params {
	double delta, epsilon;
};

/* Bounds of the share that balances the tiers. They start at 0 and 1. */
struct colloid_search {
	double p_lo, p_hi;
};

/* Means over an interval. The occupancies share a unit, and so do the inserts (or their rates). */
struct colloid_load {
	double occ_l, ins_l, occ_r, ins_r;
};

struct colloid_move {
	bool known; /* false: a tier has no requests; no decision */
	double p; /* share of the requests that go to the default tier */
	/* share of all requests to move: > 0 into the default tier, < 0 out of it, 0: stay */
	double shift;
};

void colloid_search__begin(struct colloid_search *search);

/* One quantum. The search advances only if move->known. */
struct colloid_move colloid_search__step(struct colloid_search *search,
					 const struct colloid_params *params,
					 const struct colloid_load *load);

/*
 * The shift for one quantum, limited. The load is a mean of past quanta, so the same shift is
 * requested again until the mean includes what was moved. Without a limit the shares oscillate.
 */
double colloid__limited(double shift, double most);

/* No state and no dead band of its own, as published. */
struct colloid_move colloid__closed(const struct colloid_load *load);

#endif
