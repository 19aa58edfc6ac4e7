// SPDX-License-Identifier: BSD-2-Clause
/*
 * A latscope that was killed together with its restoring process leaves the counters as it set
 * them. How it assigns the tiers to the boxes of a socket is its signature: no other program does
 * that.
 */
#include "msr.h"

/* The model's tier whose occupancy a box counts; -1: none. */
static int tier_of(const struct tier *tier, const struct msr_box *box)
{
	const struct tier_model *model = tier->model;

	for (unsigned int i = 0; i < model->nr_tiers; i++) {
		const struct tier_class *class = &model->tiers[i];

		if (box->registers[MSR_CONTROL].found ==
			    tier_layout__control(model->layout, class->occupancy) &&
		    (!model->layout->filter1 ||
		     box->registers[MSR_FILTER1].found == class->config1 >> 32))
			return (int)i;
	}
	return -1;
}

static bool is_as_planned(const struct tier *planned, const struct msr_box *box,
			  const struct tier_share *share)
{
	struct msr_box wanted = { 0 };

	msr_box__plan(planned, &wanted, share);
	for (unsigned int i = 0; i < MSR_COUNTER; i++) {
		if (box->registers[i].address &&
		    box->registers[i].found != wanted.registers[i].ours)
			return false;
	}
	return true;
}

/* If each counter has a filter, box i has tier i mod T; boxes that take turns can have any. */
static bool take_tiers(struct tier *planned, const struct tier *tier,
		       const struct msr_socket *socket, unsigned int boxes)
{
	for (unsigned int b = 0; b < boxes && b < TIER_MOST; b++) {
		int index = tier_of(tier, &socket->boxes[b]);

		if (index < 0)
			return false;
		if (b && (unsigned int)index == planned->tiers[0])
			return true;
		planned->tiers[planned->nr_tiers++] = (unsigned int)index;
	}
	return true;
}

static bool is_socket_left(const struct tier *tier, const struct tier_socket *of,
			   const struct msr_socket *socket)
{
	bool one_filter = tier->model->layout->filter1;
	struct tier_share shares[TIER_BOXES];
	struct tier planned = { .model = tier->model };

	if (!take_tiers(&planned, tier, socket, of->nr_boxes))
		return false;
	tier_share__out(shares, of->nr_boxes, planned.nr_tiers, one_filter);
	for (unsigned int b = 0; b < of->nr_boxes; b++) {
		if (one_filter) {
			int index = tier_of(tier, &socket->boxes[b]);

			if (index < 0)
				return false;
			planned.tiers[0] = (unsigned int)index;
			shares[b].tier = shares[b].events[1] = 0;
		}
		if (!is_as_planned(&planned, &socket->boxes[b], &shares[b]))
			return false;
	}
	return true;
}

bool msr__is_left(const struct tier *tier)
{
	const struct msr *msr = tier->state;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		if (!is_socket_left(tier, &tier->sockets[i], &msr->sockets[i]))
			return false;
	}
	return true;
}
