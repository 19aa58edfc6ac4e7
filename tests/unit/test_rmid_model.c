// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ten million random operations on the book of RMIDs, each compared with an oracle; and what the
 * book never asks of the allocator.
 */
#include "unit.h"

#include "../../kmod/rmid/book.h"
#include "../rmid/twin.h"

static const struct {
	uint32_t rmids;
	uint32_t room;
	uint64_t steps;
} sizes[] = {
	{ 1, 4, 5000000 },   { 3, 5, 5000000 },	   { 8, 12, 8000000 },
	{ 16, 12, 5000000 }, { 512, 300, 100000 },
};

/* Births and deaths are as frequent, and time passes in steps that often just make a limbo. */
static enum twin_op random_op(void)
{
	static const enum twin_op ops[] = {
		TWIN_BIRTH, TWIN_BIRTH, TWIN_BIRTH, TWIN_SERVE,	 TWIN_SERVE, TWIN_SERVE,
		TWIN_GONE,  TWIN_GONE,	TWIN_GONE,  TWIN_THREAD, TWIN_EXEC,  TWIN_TELL,
		TWIN_WAIT,  TWIN_WAIT,	TWIN_WAIT,  TWIN_BACK,
	};
	uint64_t random = unit_random();

	return random % 1024 ? ops[random / 1024 % COUNT_OF(ops)] : TWIN_BURY;
}

static uint64_t random_argument(enum twin_op op)
{
	static const uint64_t waits[] = { 0, 1, TWIN_LIMBO_NS - 1, TWIN_LIMBO_NS, 1000000, 30000 };

	return op == TWIN_WAIT ? waits[unit_random() % 6] : unit_random();
}

/* Returns how often the book was called. */
static uint64_t run(uint32_t rmids, uint32_t room, uint64_t steps)
{
	struct twin *twin = twin__new(rmids, room);
	const struct twin_seen *seen = twin__seen(twin);
	const char *why = NULL;
	uint64_t calls;

	for (uint64_t i = 0; i < steps && !why; i++) {
		enum twin_op op = random_op();

		why = twin__step(twin, op, (uint32_t)unit_random(), random_argument(op));
		if (!why && i % 512 == 0)
			why = twin__check(twin);
		if (why)
			print_error("%u RMIDs, step %llu: %s\n", rmids, (unsigned long long)i, why);
	}
	assert_null(why);
	why = twin__end(twin);
	if (why)
		print_error("%u RMIDs, at the end: %s\n", rmids, why);
	assert_null(why);
	/* Every situation must have occurred, or it was not tested. */
	assert_true(seen->served > steps / 1000);
	assert_true(seen->miscounted && seen->untracked);
	assert_true(rmids > room ||
		    (seen->late && seen->refused && seen->died_waiting && seen->reused_at_limbo));
	calls = seen->calls;
	twin__free(twin);
	return calls;
}

TEST(test_ten_million_random_operations_agree_with_an_oracle)
{
	uint64_t factor = getenv("LATSCOPE_SOAK") ? 20 : 1, calls = 0;

	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		calls += run(sizes[i].rmids, sizes[i].room, factor * sizes[i].steps);
	assert_true(calls >= 10000000);
}

#define LIMBO LATSCOPE_RMID_LIMBO_NS

static struct rmid_alloc alloc;
static struct rmid_info infos[4];

/* Owner N has RMID N. */
static void set_up(void)
{
	rmid_alloc__init(&alloc, infos, 3, LIMBO);
	for (__u32 rmid = 1; rmid <= 3; rmid++)
		assert_int_equal(rmid_alloc__get(&alloc, rmid, 0), rmid);
}

TEST(test_limbo_lasts_2_ms, set_up)
{
	assert_int_equal(LIMBO, 2000000);
	assert_int_equal(LIMBO, TWIN_LIMBO_NS);
	assert_true(rmid_alloc__put(&alloc, 3, 1000));
	assert_int_equal(rmid_alloc__get(&alloc, 4, 1000 + LIMBO - 1), 0);
	assert_int_equal(rmid_alloc__get(&alloc, 4, 1000 + LIMBO), 3);
}

TEST(test_a_clock_that_goes_back_shortens_no_limbo, set_up)
{
	assert_true(rmid_alloc__put(&alloc, 1, 5000));
	assert_true(rmid_alloc__put(&alloc, 2, 1000));
	assert_int_equal(rmid_alloc__get(&alloc, 1, 5000 + LIMBO), 1);
	assert_int_equal(rmid_alloc__get(&alloc, 1, 5000 + LIMBO), 2);
	assert_true(rmid_alloc__put(&alloc, 2, 9000));
	assert_true(rmid_alloc__put(&alloc, 1, 1000));
	assert_true(rmid_alloc__get(&alloc, 1, 9000 + LIMBO));
	assert_int_equal(rmid_alloc__ready_ns(&alloc), 9000 + LIMBO);
}

TEST(test_only_what_was_given_out_is_freed, set_up)
{
	assert_int_equal(rmid_alloc__owner(&alloc, 0), RMID_NOBODY);
	assert_false(rmid_alloc__put(&alloc, 0, 0));
	assert_false(rmid_alloc__put(&alloc, 4, 3));
	assert_true(rmid_alloc__put(&alloc, 2, 1));
	assert_false(rmid_alloc__put(&alloc, 2, 3)); /* a second time */
	assert_int_equal(rmid_alloc__get(&alloc, 5, 10 + LIMBO), 2);
	assert_int_equal(rmid_alloc__get(&alloc, 6, 10 + LIMBO), 0);
}
