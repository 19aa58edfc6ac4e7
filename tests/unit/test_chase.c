// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "loadgen/primitives.h"

#define LINES 10007

static atomic_bool stop;

/* A shorter cycle would stay within a cache. */
TEST(every_line_is_on_the_one_cycle)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct pointer_chase chase = { .bytes = LINES * CHASE_LINE,
					       .cpu = -1,
					       .seed = seed };
		bool *seen = calloc(LINES, 1);
		char *at;
		size_t steps = 0;

		assert_int_equal(pointer_chase__prepare(&chase), 0);
		for (at = chase.memory; steps < LINES; at = *(char **)at, steps++) {
			size_t line = (size_t)(at - (char *)chase.memory) / CHASE_LINE;

			assert_true(line < LINES && !seen[line]);
			seen[line] = true;
		}
		assert_ptr_equal(at, chase.memory);
		free(seen);
		pointer_chase__free(&chase);
	}
}

/* The order is random, as a prefetcher would have the neighbour. */
TEST(hardly_a_step_is_to_a_neighbour)
{
	struct pointer_chase chase = { .bytes = LINES * CHASE_LINE, .cpu = -1 };
	unsigned int near = 0;

	assert_int_equal(pointer_chase__prepare(&chase), 0);
	for (size_t i = 0; i < LINES; i++) {
		char *line = (char *)chase.memory + i * CHASE_LINE;
		ptrdiff_t step = *(char **)line - line;

		near += step >= -4 * CHASE_LINE && step <= 4 * CHASE_LINE;
	}
	assert_true(near < LINES / 200);
	pointer_chase__free(&chase);
}

static void *end_it(void *arg)
{
	load__sleep(*(const uint64_t *)arg);
	atomic_store(&stop, true);
	return NULL;
}

/* The end may come before it has begun: then it is given more time. */
TEST(steps_are_counted_until_the_end)
{
	struct pointer_chase chase = {
		.bytes = LINES * CHASE_LINE, .chains = CHASE_CHAINS, .cpu = 0, .stop = &stop
	};
	uint64_t patience_ns = 20 * NSEC_PER_MSEC;
	pthread_t thread;

	assert_int_equal(pointer_chase__prepare(&chase), 0);
	for (; !chase.steps && patience_ns < 20 * NSEC_PER_SEC; patience_ns *= 4) {
		atomic_store(&stop, false);
		assert_int_equal(load__thread(&thread, end_it, &patience_ns), 0);
		pointer_chase__run(&chase);
		pthread_join(thread, NULL);
	}
	assert_true(chase.steps > 0 && chase.steps % CHASE_CHAINS == 0);
	assert_true(chase.elapsed_ns > 0);
	pointer_chase__free(&chase);
}

TEST(a_cpu_that_is_not_there_is_refused)
{
	struct pointer_chase chase = { .bytes = LINES * CHASE_LINE, .cpu = 1000 };

	assert_int_equal(pointer_chase__prepare(&chase), -EINVAL);
	pointer_chase__free(&chase);
}
