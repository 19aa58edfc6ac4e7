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

#define COLLOID_DELTA 0.05 /* occupancies that differ less, relative to l, are the same */
#define COLLOID_EPSILON 0.01 /* a narrower search has lost what it looked for: the load changed */
#define COLLOID_MAX_SHIFT 0.02 /* of all requests, in one quantum */

struct colloid_params {
	double delta, epsilon;
};

/* The share lies between these, as far as is known. Begins with 0 and 1. */
struct colloid_search {
	double p_lo, p_hi;
};

/* Means over an interval: occupancies in any one unit, inserts or their rate in any one unit. */
struct colloid_load {
	double occ_l, ins_l, occ_r, ins_r;
};

struct colloid_move {
	bool known; /* false: a tier has no requests, so that there is nothing to decide by */
	double p; /* share of the requests that go to the default tier */
	double shift; /* of all requests: > 0 into the default tier, < 0 out of it, 0: stay */
};

void colloid_search__begin(struct colloid_search *search);

/* One quantum. The search moves on only if the move is known. */
struct colloid_move colloid_search__step(struct colloid_search *search,
					 const struct colloid_params *params,
					 const struct colloid_load *load);

/*
 * The shift as far as it should go in one quantum. The load is a mean of past quanta, so the same
 * shift is asked for again until the mean has seen what was moved: without a limit, moving it each
 * time ends in swinging to and fro.
 */
double colloid__limited(double shift, double most);

/* No state and no dead band of its own, as published. */
struct colloid_move colloid__closed(const struct colloid_load *load);

#endif
