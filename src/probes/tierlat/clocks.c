// SPDX-License-Identifier: BSD-2-Clause
#include "clocks.h"

#include <math.h>
#include <stdlib.h>

/* Possible clocks of a box; a certain one is evidence for the others. */
struct bounds {
	double low, high;
	bool votes;
};

/* The boxes of a socket. */
struct group {
	struct tier_clocks *clocks;
	struct bounds bounds[TIER_BOXES];
	unsigned int boxes, dies, voters;
};

/* False: the box has no clock that can be compared. */
static bool take_clock(struct bounds *bounds, double *hz, const struct tier_share *share,
		       const struct tier_delta *delta)
{
	double ns = (double)delta->counted_ns, unsure = (double)delta->uncertain_ns;
	uint64_t count;

	if (!delta->valid || !delta->counted_ns || delta->in_part ||
	    !tier_delta__counted(delta, share, TIER_CLOCKTICKS, &count) || !count)
		return false;
	*hz = (double)count * 1e9 / ns;
	bounds->low = (double)count * 1e9 / (ns + unsure);
	bounds->high = (double)count * 1e9 / fmax(ns - unsure, 1);
	bounds->votes = tier_delta__is_certain(delta);
	return true;
}

/* Keeps what is known from before. */
static void begin(struct group *group, const struct tier_share *shares,
		  const struct tier_delta *deltas)
{
	struct tier_clocks *clocks = group->clocks;

	for (unsigned int i = 0; i < group->boxes; i++) {
		if (clocks->hz[i])
			clocks->last[i] = clocks->hz[i];
		if (clocks->hz[i] && !clocks->odd[i])
			clocks->good[i] = clocks->hz[i];
		clocks->odd[i] = false;
		if (!take_clock(&group->bounds[i], &clocks->hz[i], &shares[i], &deltas[i]))
			clocks->hz[i] = 0;
		group->voters += clocks->hz[i] && group->bounds[i].votes;
	}
}

static bool agrees(const struct group *group, unsigned int i, double hz)
{
	const struct bounds *bounds = &group->bounds[i];

	return hz >= bounds->low / (1 + CLOCKS_SPREAD) && hz <= bounds->high * (1 + CLOCKS_SPREAD);
}

/* With the clocks of the voters. One that agrees with nobody else is odd, however few they are. */
static bool is_odd(const struct group *group, unsigned int i)
{
	unsigned int voters = group->voters, others = 0;
	bool votes = group->bounds[i].votes;

	for (unsigned int j = 0; j < group->boxes; j++)
		others +=
			j != i && group->bounds[j].votes && agrees(group, i, group->clocks->hz[j]);
	if (voters - votes > 1 && !others)
		return true;
	return 2 * group->dies * (others + votes) <= voters;
}

static bool is_as_before(const struct group *group, unsigned int i)
{
	return group->clocks->good[i] && agrees(group, i, group->clocks->good[i]);
}

/* No other box says whether the clock of the socket changed, or the box was stopped. */
static void judge_single(struct group *group)
{
	struct tier_clocks *clocks = group->clocks;

	for (unsigned int i = 0; i < group->boxes; i++) {
		if (group->bounds[i].votes)
			clocks->odd[i] = clocks->good[i] && !is_as_before(group, i) &&
					 !agrees(group, i, clocks->last[i]);
	}
}

static void judge(struct group *group)
{
	struct tier_clocks *clocks = group->clocks;
	bool any = false;

	for (unsigned int i = 0; i < group->boxes; i++) {
		clocks->odd[i] = clocks->hz[i] && is_odd(group, i);
		any = any || (clocks->hz[i] && !clocks->odd[i]);
	}
	for (unsigned int i = 0; !any && i < group->boxes; i++)
		clocks->odd[i] = clocks->hz[i] && !is_as_before(group, i);
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(const struct tier_clocks *clocks, unsigned int boxes, bool all)
{
	double sorted[TIER_BOXES] = { 0 };
	unsigned int nr = 0;

	for (unsigned int i = 0; i < boxes; i++) {
		if (clocks->hz[i] && (all || !clocks->odd[i]))
			sorted[nr++] = clocks->hz[i];
	}
	qsort(sorted, nr, sizeof(*sorted), by_value);
	return nr ? sorted[nr / 2] : 0;
}

void tier_clocks__compare(struct tier_clocks *clocks, const struct tier_share *shares,
			  const struct tier_delta *deltas, unsigned int boxes, unsigned int dies)
{
	struct group group = { .clocks = clocks, .boxes = boxes, .dies = dies };

	begin(&group, shares, deltas);
	clocks->alone = group.voters == 1;
	if (clocks->alone)
		judge_single(&group);
	else if (group.voters)
		judge(&group);
	clocks->usual_hz = median(clocks, boxes, false);
	if (!clocks->usual_hz)
		clocks->usual_hz = median(clocks, boxes, true);
}
