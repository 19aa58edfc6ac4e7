// SPDX-License-Identifier: BSD-2-Clause
/* Which clocks of a socket's boxes are odd; tests/emu/test_stopped.c stops the boxes. */
#include "unit.h"

#include "probes/tierlat/clocks.h"

#define BOXES 60
#define SECOND 1000000000ULL

static struct tier_share shares[BOXES];
static struct tier_delta deltas[BOXES];
static struct tier_clocks clocks;

/* All boxes count clocks of so many GHz. */
static void begin(double ghz)
{
	memset(&clocks, 0, sizeof(clocks));
	tier_share__out(shares, BOXES, 2, false);
	for (unsigned int i = 0; i < BOXES; i++)
		deltas[i] = (struct tier_delta){ .valid = true,
						 .counts[2] = (uint64_t)(ghz * 1e9),
						 .elapsed_ns = SECOND,
						 .counted_ns = SECOND };
}

static void set_clock(unsigned int box, double ghz)
{
	deltas[box].counts[2] = (uint64_t)(ghz * (double)deltas[box].counted_ns);
}

static unsigned int odd_ones(unsigned int boxes, unsigned int dies)
{
	unsigned int nr = 0;

	tier_clocks__compare(&clocks, shares, deltas, boxes, dies);
	for (unsigned int i = 0; i < BOXES; i++)
		nr += clocks.odd[i];
	return nr;
}

TEST(more_than_five_percent_is_odd)
{
	static const struct {
		double ghz;
		bool odd;
	} cases[] = { { 1.88, true },  { 1.91, false }, { 2, false },
		      { 2.09, false }, { 2.12, true },	{ 8, true } };

	for (unsigned int i = 0; i < COUNT_OF(cases); i++) {
		begin(2);
		set_clock(7, cases[i].ghz);
		assert_int_equal(odd_ones(BOXES, 1), cases[i].odd);
		assert_int_equal(clocks.odd[7], cases[i].odd);
		assert_true(fabs(clocks.usual_hz - 2e9) < 1);
	}
}

/* Three dies of twenty boxes each, and one box of the second that was stopped. */
TEST(dies_may_have_clocks_of_their_own)
{
	begin(2);
	for (unsigned int i = 0; i < 40; i++)
		set_clock(i, i < 20 ? 1.2 : 1.6);
	assert_int_equal(odd_ones(BOXES, 3), 0);
	set_clock(25, 0.9);
	assert_int_equal(odd_ones(BOXES, 3), 1);
	assert_true(clocks.odd[25]);
}

/* The same where all boxes have one clock: without a majority, what they were before counts. */
TEST(without_a_majority_a_clock_must_be_as_before)
{
	begin(2);
	assert_int_equal(odd_ones(BOXES, 1), 0);
	for (unsigned int i = 0; i < 40; i++)
		set_clock(i, i < 20 ? 1.2 : 1.6);
	assert_int_equal(odd_ones(BOXES, 1), 40);
	assert_false(clocks.odd[59]);
	begin(2);
	for (unsigned int i = 0; i < 40; i++)
		set_clock(i, i < 20 ? 1.2 : 1.6);
	assert_int_equal(odd_ones(BOXES, 1), BOXES);
}

/* A box with a time between 1 and 3 s may have any clock between 0.67 and 2 GHz. */
TEST(a_box_with_an_uncertain_time_is_odd_only_for_certain)
{
	begin(1.5);
	deltas[4].counted_ns = 2 * SECOND;
	deltas[4].uncertain_ns = SECOND;
	deltas[4].counts[2] = 2 * SECOND;
	assert_int_equal(odd_ones(BOXES, 1), 0);
	deltas[4].counts[2] = SECOND;
	assert_int_equal(odd_ones(BOXES, 1), 1);
	deltas[4].counts[2] = 8 * SECOND;
	assert_int_equal(odd_ones(BOXES, 1), 1);
	/* Nor is it evidence against a certain one. */
	for (unsigned int i = 0; i < 40; i++) {
		deltas[i].uncertain_ns = SECOND / 2;
		deltas[i].counts[2] = SECOND;
	}
	tier_clocks__compare(&clocks, shares, deltas, BOXES, 1);
	for (unsigned int i = 40; i < BOXES; i++)
		assert_false(clocks.odd[i]);
}

/* Boxes that the kernel counted at other times may have had another clock then. */
TEST(multiplexed_and_invalid_boxes_are_not_compared)
{
	begin(2);
	for (unsigned int i = 0; i < 40; i++) {
		set_clock(i, 1);
		deltas[i].valid = i % 2;
		deltas[i].in_part = i % 2;
	}
	assert_int_equal(odd_ones(BOXES, 1), 0);
	assert_true(!clocks.hz[0] && !clocks.hz[1] && clocks.hz[40] > 0);
	deltas[50].counts[2] = SECOND;
	assert_int_equal(odd_ones(BOXES, 1), 1);
}
