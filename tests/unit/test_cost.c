// SPDX-License-Identifier: BSD-2-Clause
/* What a probe costs, and what the kernel did not run it for, between two readings. */
#include "unit.h"

#include <errno.h>

#include "session/cost.c"

static struct probe_usage usage; /* what the kernel says now */
static int usage_err;

int probe__usage(const struct probe *probe, struct probe_usage *to)
{
	(void)probe;
	if (!usage_err)
		*to = usage;
	return usage_err;
}

uint64_t probe__seen(const struct probe *probe)
{
	(void)probe;
	return 1234;
}

int bpf_enable_stats(enum bpf_stats_type type)
{
	return type == BPF_STATS_RUN_TIME ? 5 : -EINVAL;
}

static struct cost cost;

/* Programs that ran before the window opens. */
static int begin(void **state)
{
	(void)state;
	usage_err = 0;
	usage = (struct probe_usage){ .runs = 100, .run_ns = 50000, .recursion_missed = 7 };
	cost__begin(&cost, NULL);
	usage = (struct probe_usage){ .runs = 160, .run_ns = 92000, .recursion_missed = 12 };
	return 0;
}

static void the_kernel_times_programs(void **state)
{
	(void)state;
	assert_int_equal(cost__start(), 5);
}

static void what_ran_before_costs_nothing(void **state)
{
	struct run_cost out = { 0 };

	(void)state;
	cost__end(&cost, NULL, 200000000, &out);
	assert_int_equal(out.runs, 60);
	assert_int_equal(out.run_ns, 42000);
	assert_int_equal(out.timed_ns, 200000000);
	assert_int_equal(out.timed_events, 1234);
}

static void what_was_missed_before_is_not_missed_in_the_window(void **state)
{
	struct run_probe module = { 0 };

	(void)state;
	cost__missed(&cost, NULL, &module);
	assert_int_equal(module.recursion_missed, 5);
}

static void without_an_answer_nothing_is_stated(void **state)
{
	struct run_probe module = { 0 };
	struct run_cost out = { 0 };

	(void)state;
	usage_err = -EPERM;
	cost__end(&cost, NULL, 200000000, &out);
	assert_int_equal(out.timed_ns, 0);
	cost__missed(&cost, NULL, &module);
	assert_int_equal(module.recursion_missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_times_programs),
		cmocka_unit_test_setup(what_ran_before_costs_nothing, begin),
		cmocka_unit_test_setup(what_was_missed_before_is_not_missed_in_the_window, begin),
		cmocka_unit_test_setup(without_an_answer_nothing_is_stated, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
