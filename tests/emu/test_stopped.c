// SPDX-License-Identifier: BSD-2-Clause
/*
 * Another program stops a box for a part of an interval, or changes its counts, and leaves no trace
 * in its controls. The emulator stops the box; the requests and their latencies stay as they were.
 */
#include "rig.h"

#define INTERVAL 1e7 /* ns */

static struct rig rig;

/* The control of a box in the layout of the generation. */
static unsigned int address_of(const struct rig_setup *setup, unsigned int box)
{
	return tier_layout__box(tier_model__find(setup->gen->name)->layout, box);
}

static void freeze(const struct rig_setup *setup, unsigned int box, bool on)
{
	const struct tier_layout *layout = tier_model__find(setup->gen->name)->layout;

	emu__tell("poke reg=%#x value=%#llx", address_of(setup, box),
		  on ? (unsigned long long)layout->freeze : 0ULL);
}

/* Boxes stand still in the middle of the interval, each for `share` of it. */
static int read_stopped(const struct rig_setup *setup, const unsigned int *boxes, unsigned int nr,
			double share)
{
	emu__tell("advance ns=%.0f", INTERVAL * (1 - share) / 2);
	for (unsigned int i = 0; i < nr; i++)
		freeze(setup, boxes[i], true);
	emu__tell("advance ns=%.0f", INTERVAL * share);
	for (unsigned int i = 0; i < nr; i++)
		freeze(setup, boxes[i], false);
	return rig__read(&rig, INTERVAL * (1 - share) / 2);
}

static void assert_right(double third)
{
	const double reference[] = { 90, 180, third };

	for (unsigned int i = 0; i < rig.measured; i++) {
		const struct tier_latency *latency = rig__latency(&rig, 0, i);

		assert_true(latency->latency_known);
		rig__assert_near("latency", latency->latency_ns, reference[i], 0.01);
		rig__assert_near("clock", latency->clock_hz, 2e9, 0.01);
	}
	rig__assert_near("rate", rig__latency(&rig, 0, RIG_NEAR)->rate, 2e8, 0.02);
	rig__assert_near("rate", rig__latency(&rig, 0, RIG_FAR)->rate, 1e8, 0.02);
}

/* An interval in which nothing was stopped. */
static void assert_innocent(void)
{
	const char *trouble;

	assert_int_equal(rig__read(&rig, INTERVAL), 0);
	trouble = tier__trouble(rig.tier);
	if (trouble)
		fail_msg("%s", trouble);
	assert_int_equal(rig__latency(&rig, 0, 0)->boxes_lost, 0);
	assert_right(300);
}

static void begin(const struct rig_setup *setup)
{
	rig__machine(setup);
	if (setup->tiers)
		emu__tell("stream name=pmm memory=pmm rate=5e7 latency=300");
	rig__start(&rig, setup);
	/* boxes that take turns know all after the second */
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(rig__read(&rig, INTERVAL), 0);
	assert_innocent();
}

/* One box, whose number is told. */
static void assert_named(const struct rig_setup *setup, unsigned int box, double share)
{
	char name[32];
	const char *trouble;

	snprintf(name, sizeof(name), "CHA %u (CPU 0): counts another", box);
	assert_int_equal(read_stopped(setup, &box, 1, share), 0);
	trouble = tier__trouble(rig.tier);
	if (!trouble)
		fail_msg("%s: CHA %u stood still for %g of the interval, and nothing is said",
			 setup->gen->name, box, share);
	assert_has(trouble, name);
	assert_int_equal(rig__latency(&rig, 0, 0)->boxes_lost, 1);
	assert_right(300);
}

TEST(a_box_that_stood_still_for_a_while_is_left_out)
{
	static const double stopped[] = { 0.08, 0.3, 0.5, 0.7 };

	for (unsigned int g = 0; g < RIG_GENERATIONS; g++) {
		const struct rig_setup setup = { .gen = &rig_generations[g], .boxes = 12 };

		for (unsigned int i = 0; i < COUNT_OF(stopped); i++) {
			begin(&setup);
			assert_named(&setup, i % 2 ? 11 : 0, stopped[i]);
			assert_innocent();
			rig__finish(&rig);
		}
	}
}

/* With three tiers few boxes count clocks, and the others use theirs. */
TEST(the_clock_of_a_stopped_box_is_used_for_no_other)
{
	static const unsigned int boxes[] = { 8, 12, 40 };

	for (unsigned int i = 0; i < COUNT_OF(boxes); i++) {
		const struct rig_setup setup = { .gen = &rig_generations[2],
						 .tiers = "local-ddr,remote-ddr,local-pmm",
						 .boxes = boxes[i] };

		begin(&setup);
		assert_named(&setup, 3, 0.5);
		assert_innocent();
		assert_named(&setup, boxes[i] - 1, 0.65);
		assert_innocent();
		rig__finish(&rig);
	}
}

/* Latencies are then unknown rather than long; two intervals later all is known again. */
TEST(a_single_clock_that_changes_is_not_believed_at_once)
{
	const struct rig_setup setup = { .gen = &rig_generations[2],
					 .tiers = "local-ddr,remote-ddr,local-pmm",
					 .boxes = 4 };
	const unsigned int box = 3;

	begin(&setup);
	assert_int_equal(read_stopped(&setup, &box, 1, 0.5), 0);
	assert_has(tier__trouble(rig.tier), "no other CHA of its socket counts one");
	for (unsigned int i = 0; i < rig.measured; i++)
		assert_false(rig__latency(&rig, 0, i)->latency_known);
	assert_innocent();
	/* A clock that really changed is believed in the second interval. */
	emu__tell("clock hz=1.4e9");
	assert_int_equal(rig__read(&rig, INTERVAL), 0);
	assert_false(rig__latency(&rig, 0, 0)->latency_known);
	assert_int_equal(rig__read(&rig, INTERVAL), 0);
	assert_null(tier__trouble(rig.tier));
	rig__assert_near("near", rig__latency(&rig, 0, 0)->latency_ns, 90, 0.01);
	rig__finish(&rig);
}

/* Several, each for as long as the others, or for times of their own. */
TEST(several_stopped_boxes_are_all_left_out)
{
	static const unsigned int boxes[] = { 1, 2, 6, 7, 10 };
	const struct rig_setup setup = { .gen = &rig_generations[3], .boxes = 12 };

	begin(&setup);
	assert_int_equal(read_stopped(&setup, boxes, COUNT_OF(boxes), 0.4), 0);
	assert_has(tier__trouble(rig.tier), "CHA 1 (CPU 0) and 4 more: counts another");
	assert_int_equal(rig__latency(&rig, 0, 0)->boxes_lost, COUNT_OF(boxes));
	assert_right(300);
	assert_innocent();
	for (unsigned int i = 0; i < COUNT_OF(boxes); i++) {
		freeze(&setup, boxes[i], true);
		emu__tell("advance ns=%.0f", INTERVAL / 10 * (i + 1));
		freeze(&setup, boxes[i], false);
	}
	assert_int_equal(rig__read(&rig, INTERVAL), 0);
	assert_int_equal(rig__latency(&rig, 0, 0)->boxes_lost, 4);
	rig__assert_near("near", rig__latency(&rig, 0, RIG_NEAR)->latency_ns, 90, 0.02);
	rig__assert_near("far", rig__latency(&rig, 0, RIG_FAR)->latency_ns, 180, 0.02);
	rig__finish(&rig);
}

/* Without a majority nothing tells which half was stopped, except what they were before. */
TEST(half_of_the_boxes_are_left_out_if_their_clock_was_another)
{
	static const unsigned int boxes[] = { 0, 1, 2 };
	const struct rig_setup setup = { .gen = &rig_generations[2], .boxes = 6 };

	begin(&setup);
	assert_int_equal(read_stopped(&setup, boxes, 3, 0.5), 0);
	assert_int_equal(rig__latency(&rig, 0, 0)->boxes_lost, 3);
	assert_right(300);
	assert_innocent();
	rig__finish(&rig);
	/* Before the first interval that is not known. */
	rig__machine(&setup);
	rig__start(&rig, &setup);
	assert_int_equal(read_stopped(&setup, boxes, 3, 0.5), 0);
	assert_int_equal(rig__latency(&rig, 0, 0)->boxes_lost, 6);
	assert_false(rig__latency(&rig, 0, 0)->latency_known);
	assert_innocent();
	rig__finish(&rig);
}

/* Adds to a counter as another program could, `more` of what it has counted since `before`. */
static void count_more(const struct rig_setup *setup, unsigned int box, unsigned int counter,
		       uint64_t before, double more)
{
	const struct tier_layout *layout = tier_model__find(setup->gen->name)->layout;
	unsigned int reg = address_of(setup, box) + layout->counter + counter;
	uint64_t now;

	assert_int_equal(emu__read(0, reg, &now), 0);
	now += (uint64_t)(more * (double)(now - before));
	emu__tell("poke reg=%#x value=%#llx", reg, (unsigned long long)now);
}

static void read_more(const struct rig_setup *setup, unsigned int box, unsigned int first,
		      double more)
{
	const struct tier_layout *layout = tier_model__find(setup->gen->name)->layout;
	uint64_t before[TIER_COUNTERS];

	for (unsigned int i = 0; i < TIER_COUNTERS; i++)
		assert_int_equal(
			emu__read(0, address_of(setup, box) + layout->counter + i, &before[i]), 0);
	emu__tell("advance ns=%.0f", INTERVAL);
	for (unsigned int i = first; i < (first ? first + 1 : TIER_COUNTERS); i++)
		count_more(setup, box, i, before[i], more);
	assert_int_equal(rig__read(&rig, 0), 0);
}

/* Every count twice; or the clocks alone leap, by less than is impossible for a box alone. */
TEST(a_box_that_counts_twice_or_leaps_is_left_out)
{
	static const struct {
		unsigned int first; /* counter; 0: all */
		double more;
	} cases[] = { { 0, 1 }, { 2, 1 }, { 2, 0.08 } };
	const struct rig_setup setup = { .gen = &rig_generations[2], .boxes = 6 };

	for (unsigned int i = 0; i < COUNT_OF(cases); i++) {
		begin(&setup);
		read_more(&setup, 4, cases[i].first, cases[i].more);
		assert_has(tier__trouble(rig.tier), "CHA 4 (CPU 0): counts another clock");
		assert_int_equal(rig__latency(&rig, 0, 0)->boxes_lost, 1);
		assert_right(300);
		assert_innocent();
		rig__finish(&rig);
	}
}

/* Clocks of a socket that change together, uneven requests, and counters that wrap accuse none. */
TEST(a_clock_that_all_boxes_share_is_no_fault)
{
	static const double hz[] = { 0.8e9, 2.4e9, 1e9, 2e9 };

	for (unsigned int g = 0; g < RIG_GENERATIONS; g++) {
		const struct rig_setup setup = { .gen = &rig_generations[g], .boxes = 12 };

		rig_first = (1ULL << 48) - 10000000;
		begin(&setup);
		rig_first = 0;
		emu__tell("stream name=near skew=3 spread=10");
		emu__tell("stream name=far skew=4 spread=10");
		for (unsigned int i = 0; i < COUNT_OF(hz); i++) {
			emu__tell("clock hz=%g", hz[i]);
			for (unsigned int j = 0; j < 3; j++) {
				assert_int_equal(rig__read(&rig, INTERVAL), 0);
				assert_null(tier__trouble(rig.tier));
			}
			rig__assert_near("near", rig__latency(&rig, 0, RIG_NEAR)->latency_ns, 90,
					 0.01);
		}
		rig__finish(&rig);
	}
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
