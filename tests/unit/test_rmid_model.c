// SPDX-License-Identifier: BSD-2-Clause
/* Ten million random operations on the book of RMIDs, each compared with an oracle. */
#include "unit.h"

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
	assert_true(rmids > room || (seen->late && seen->refused && seen->reused_at_limbo));
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

UNIT_MAIN()
