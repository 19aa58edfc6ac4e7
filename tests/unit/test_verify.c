// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's counts of a window, from its counters at four moments. */
#include "unit.h"

#include <probes/kit/kernel_check.c>

#define MSEC 1000000ULL

static struct run_probe module;

static void expect_something(const struct bpf_probe *probe, const struct run_probe *of,
			     enum account_kind kind, struct run_check *check)
{
	assert_int_equal(kind, ACCOUNT_REQUESTS);
	check->events.tolerance = 3;
	check->time.tolerance = 5;
}

static const struct bpf_probe_ops ops = { .expect = expect_something };
static const struct bpf_probe probe = { .ops = &ops };

static const struct verify four_moments = {
	.kind = ACCOUNT_REQUESTS,
	.accounts = {
		[VERIFY_BEFORE_OPEN] = { .events = 1000, .ns = 100 * MSEC, .step_ns = 4 * MSEC },
		[VERIFY_AFTER_OPEN] = { .events = 1100, .ns = 120 * MSEC, .step_ns = 4 * MSEC },
		[VERIFY_BEFORE_CLOSE] = { .events = 21100, .ns = 920 * MSEC, .step_ns = 4 * MSEC },
		[VERIFY_AFTER_CLOSE] = { .events = 31000, .ns = 1100 * MSEC, .step_ns = 4 * MSEC },
	},
};

static const struct run_check *conclude(const struct verify *verify)
{
	memset(&module, 'x', sizeof(module));
	verify__conclude(verify, &probe, &module);
	return &module.check;
}

TEST(least_and_most_lie_within_and_around_the_window)
{
	const struct run_check *check = conclude(&four_moments);

	assert_string_equal(check->source, "/sys/block/*/stat");
	assert_string_equal(check->why, "");
	assert_int_equal(check->events.kernel_low, 20000);
	assert_int_equal(check->events.kernel_high, 30000);
}

/* A sum that is cut to 4 ms may be up to that much too small, at either end. */
TEST(the_step_of_the_clock_widens_both_ends)
{
	const struct run_check *check = conclude(&four_moments);

	assert_int_equal(check->time.kernel_low, (800 - 4) * MSEC);
	assert_int_equal(check->time.kernel_high, (1000 + 4) * MSEC);
}

TEST(less_time_than_a_step_is_at_least_none)
{
	struct verify verify = four_moments;

	verify.accounts[VERIFY_BEFORE_CLOSE].ns = 123 * MSEC;
	assert_int_equal(conclude(&verify)->time.kernel_low, 0);
}

/* docs/method.md: 0.1 % of events and 4 per CPU, 1 % of time, and the probe's own. */
TEST(tolerances_are_those_of_the_documentation)
{
	const struct run_check *check = conclude(&four_moments);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	assert_int_equal(check->events.tolerance, 3 + 30 + 4 * cpus);
	assert_int_equal(check->time.tolerance, 5 + 1004 * MSEC / 100);
}

TEST(counters_that_stand_still_are_of_the_same_disks)
{
	struct verify verify = four_moments;

	for (int i = 1; i < VERIFY_MOMENTS; i++)
		verify.accounts[i] = verify.accounts[0];
	assert_string_equal(conclude(&verify)->why, "");
	assert_int_equal(module.check.events.kernel_high, 0);
}

static void refuses(const struct verify *verify, const char *why)
{
	const struct run_check *check = conclude(verify);

	assert_string_equal(check->why, why);
	assert_false(check->events.known || check->time.known);
	assert_int_equal(check->events.kernel_high, 0);
	assert_int_equal(check->events.tolerance, 0);
}

TEST(counters_that_fell_are_of_other_disks)
{
	struct verify verify;

	for (int i = 1; i < VERIFY_MOMENTS; i++) {
		verify = four_moments;
		verify.accounts[i].events = verify.accounts[i - 1].events - 1;
		refuses(&verify, "disks came or went meanwhile");
		verify = four_moments;
		verify.accounts[i].ns = verify.accounts[i - 1].ns - 1;
		refuses(&verify, "disks came or went meanwhile");
	}
}

TEST(sums_over_other_parts_are_not_compared)
{
	struct verify verify = four_moments;

	verify.accounts[VERIFY_AFTER_CLOSE].parts = 1;
	refuses(&verify, "disks came or went meanwhile");
	verify.kind = ACCOUNT_WAITS;
	refuses(&verify, "CPUs came or went meanwhile");
}

TEST(an_account_that_cannot_be_read_says_why)
{
	struct verify verify = four_moments;

	snprintf(verify.why, sizeof(verify.why), "it has no pgfault");
	refuses(&verify, "it has no pgfault");
	assert_string_equal(module.check.source, "/sys/block/*/stat");
}
