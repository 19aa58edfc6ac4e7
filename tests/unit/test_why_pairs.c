// SPDX-License-Identifier: BSD-2-Clause
/* Pairs of victim and culprit: what is read, and who gives up a place. */
#include "unit.h"

#include <probes/kit/why_pairs.h>

struct all {
	struct why_pairs read;
	struct why_pair pairs[WHY_PLACES];
	uint64_t ns[WHY_PLACES + 1]; /* that were read, by victim */
	unsigned int calls, unplaced;
};

static struct all *all;

static int each(void *context, const struct why_pair *pair, bool placed,
		const struct why_amount *gained)
{
	assert_ptr_equal(context, all);
	assert_true(pair->victim.id <= WHY_PAIRS);
	all->ns[pair->victim.id] += gained->ns;
	all->calls++;
	if (!placed) {
		all->unplaced++;
		assert_in_range(pair->part, 0, WHY_PARTS - 1);
	}
	return 0;
}

static void begin(void)
{
	all = calloc(1, sizeof(*all));
	assert_non_null(all);
	all->read.pairs = all->pairs;
}

static void end(void)
{
	free(all);
}

/* As the programs do it. */
static void take(uint32_t place, uint64_t victim, uint64_t ns)
{
	struct why_pair *pair = &all->pairs[place];

	if (pair->state == WHY_FREE) {
		pair->victim.id = victim;
		pair->state = WHY_READY;
	}
	assert_int_equal(pair->state, WHY_READY);
	assert_int_equal(pair->victim.id, victim);
	pair->amount.ns += ns;
	pair->amount.count++;
}

static void read_all(void)
{
	assert_int_equal(why_pairs__read(&all->read, each, all), 0);
}

static void read_idle(unsigned int times)
{
	unsigned int before = all->calls;

	for (unsigned int i = 0; i < times; i++)
		read_all();
	assert_int_equal(all->calls, before);
}

/* Takes so many places, with victims of the same numbers. */
static void fill(uint32_t nr)
{
	for (uint32_t i = WHY_PARTS; i < WHY_PARTS + nr; i++)
		take(i, i, 1);
	read_all();
}

TEST(gains_are_read_once)
{
	take(100, 7, 5);
	read_all();
	read_all();
	assert_int_equal(all->ns[7], 5);
	assert_int_equal(all->calls, 1);
	take(100, 7, 6);
	read_all();
	assert_int_equal(all->ns[7], 11);
}

TEST(a_pair_without_a_place_has_its_part)
{
	all->pairs[WHY_PARTS - 1].amount = (struct why_amount){ .ns = 9, .count = 1 };
	read_all();
	assert_int_equal(all->unplaced, 1);
	assert_int_equal(all->ns[0], 9);
}

TEST(a_pair_that_is_being_made_is_left)
{
	all->pairs[100] = (struct why_pair){ .state = WHY_CLAIMED, .amount = { 5, 1, 0, 0 } };
	read_all();
	assert_int_equal(all->calls, 0);
	all->pairs[100].state = WHY_READY;
	read_all();
	assert_int_equal(all->ns[0], 5);
}

TEST(idle_pairs_stay_where_nobody_needs_their_places)
{
	fill(WHY_PAIRS / 2 - WHY_PARTS);
	read_idle(3 * WHY_PAIRS_IDLE);
	assert_int_equal(all->pairs[WHY_PARTS].state, WHY_READY);
}

TEST(idle_pairs_give_up_their_places)
{
	fill(WHY_PAIRS / 2 + 1);
	read_idle(WHY_PAIRS_IDLE - 1);
	take(50, 50, 1); /* it is not idle */
	read_all();
	assert_int_equal(all->pairs[49].state, WHY_CLAIMED);
	assert_int_equal(all->pairs[50].state, WHY_READY);
	all->pairs[49].amount.ns += 30; /* a program was at it */
	all->pairs[49].amount.count++;
	read_all();
	assert_int_equal(all->ns[49], 31);
	assert_int_equal(all->pairs[49].state, WHY_FREE);
	assert_int_equal(all->pairs[50].state, WHY_READY);

	take(49, 5000, 4);
	read_all();
	assert_int_equal(all->ns[49], 31);
	assert_int_equal(all->ns[5000], 1 + 4); /* and once from fill() */
}

TEST(a_new_pair_is_not_idle)
{
	fill(WHY_PAIRS / 2 + 1);
	read_idle(WHY_PAIRS_IDLE + 1);
	assert_int_equal(all->pairs[49].state, WHY_FREE);
	fill(WHY_PAIRS / 2 + 1);
	read_idle(WHY_PAIRS_IDLE - 2);
	assert_int_equal(all->pairs[49].state, WHY_READY);
}

static int fails(void *context, const struct why_pair *pair, bool placed,
		 const struct why_amount *gained)
{
	return -12;
}

TEST(an_error_is_returned)
{
	take(100, 7, 5);
	assert_int_equal(why_pairs__read(&all->read, fails, all), -12);
}

UNIT_FIXTURES(.each = { begin, end })
