// SPDX-License-Identifier: BSD-2-Clause
#include "colloid.h"

#include <math.h>

void colloid_search__begin(struct colloid_search *search)
{
	search->p_lo = 0;
	search->p_hi = 1;
}

/*
 * HeMem's code checks neither: without inserts in r its beta is infinite, and the resulting shift
 * is NaN.
 */
static bool can_decide(const struct colloid_load *load)
{
	return load->ins_l > 0 && load->ins_r > 0 && load->occ_l > 0 && load->occ_r > 0;
}

/*
 * The occupancy that r would have at the rate of l, so that occupancies compare as latencies do:
 * occ_l < beta * occ_r is occ_l / ins_l < occ_r / ins_r.
 */
static double scaled_r(const struct colloid_load *load)
{
	return load->occ_r * load->ins_l / load->ins_r;
}

static double share_of_l(const struct colloid_load *load)
{
	return load->ins_l / (load->ins_l + load->ins_r);
}

/* Narrows the search by where p is. If p contradicts a bound, the search restarts on that side. */
static void narrow(struct colloid_search *search, double p, bool l_faster)
{
	if (l_faster) {
		search->p_lo = p;
		if (search->p_hi <= p)
			search->p_hi = 1;
	} else {
		search->p_hi = p;
		if (search->p_lo >= p)
			search->p_lo = 0;
	}
}

struct colloid_move colloid_search__step(struct colloid_search *search,
					 const struct colloid_params *params,
					 const struct colloid_load *load)
{
	struct colloid_move move = { 0 };
	double difference;
	bool l_faster;

	if (!can_decide(load))
		return move;
	move.known = true;
	move.p = share_of_l(load);
	difference = load->occ_l - scaled_r(load);
	if (fabs(difference) < params->delta * load->occ_l)
		return move;
	l_faster = difference < 0;
	narrow(search, move.p, l_faster);
	/* The load changed after the other bound was found. */
	if (fabs(search->p_hi - search->p_lo) < params->epsilon) {
		if (l_faster)
			search->p_hi = 1;
		else
			search->p_lo = 0;
	}
	move.shift = (search->p_lo + search->p_hi) / 2 - move.p;
	return move;
}

double colloid__limited(double shift, double most)
{
	return fmax(-most, fmin(most, shift));
}

/* |L_l - L_r| * p / (beta * L_r + L_l), with the latencies as occupancy over inserts. */
struct colloid_move colloid__closed(const struct colloid_load *load)
{
	struct colloid_move move = { 0 };
	double beta, difference, sum;

	if (!can_decide(load))
		return move;
	beta = load->ins_l / load->ins_r;
	difference = scaled_r(load) - load->occ_l;
	sum = (load->ins_l + load->ins_r) *
	      (beta * load->occ_r / load->ins_r + load->occ_l / load->ins_l);
	move.known = true;
	move.p = share_of_l(load);
	move.shift = difference / sum;
	return move;
}
