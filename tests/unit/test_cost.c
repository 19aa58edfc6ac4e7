// SPDX-License-Identifier: BSD-2-Clause
/* Cost of a probe, and events for which the kernel did not run it, between two readings. */
#include "unit.h"

#include <probes/kit/cost.c>

static struct bpf_probe_usage usage; /* what the kernel says now */
static int usage_err;

int bpf_probe__usage(const struct bpf_probe *of, struct bpf_probe_usage *to)
{
	if (!usage_err)
		*to = usage;
	return usage_err;
}

static uint64_t seen = 1234;

uint64_t bpf_probe__seen(const struct bpf_probe *of)
{
	return seen;
}

static int opened; /* how often the kernel was asked to measure */

int bpf_enable_stats(enum bpf_stats_type type)
{
	opened++;
	return type == BPF_STATS_RUN_TIME ? dup(STDIN_FILENO) : -EINVAL;
}

static struct cost cost;
static struct run_cost out; /* what a test reads; empty at its beginning */
static struct run_probe module;
static const struct bpf_probe probe;

/* Programs that ran before the window opens. */
static void begin(void)
{
	usage_err = 0;
	seen = 1234;
	opened = 0;
	memset(&out, 0, sizeof(out));
	memset(&module, 0, sizeof(module));
	cost__new(&cost, true);
	usage = (struct bpf_probe_usage){ .runs = 100, .run_ns = 50000, .recursion_missed = 7 };
	cost__begin(&cost, &probe);
	usage = (struct bpf_probe_usage){ .runs = 160, .run_ns = 92000, .recursion_missed = 12 };
}

static void end(void)
{
	cost__free(&cost);
}

TEST(runs_before_the_window_cost_nothing)
{
	cost__end(&cost, &probe, 200000000, &out);
	assert_int_equal(out.runs, 60);
	assert_int_equal(out.run_ns, 42000);
	assert_int_equal(out.timed_ns, 200000000);
	assert_int_equal(out.timed_events, 1234);
}

TEST(misses_before_the_window_do_not_count)
{
	cost__missed(&cost, &probe, &module);
	assert_int_equal(module.recursion_missed, 5);
}

TEST(without_an_answer_nothing_is_stated)
{
	usage_err = -EPERM;
	cost__end(&cost, &probe, 200000000, &out);
	assert_int_equal(out.timed_ns, 0);
	cost__missed(&cost, &probe, &module);
	assert_int_equal(module.recursion_missed, 0);
}

TEST(timing_ends_once_and_not_before_its_time)
{
	cost__poll(&cost, &probe, SUMMARY_TIMED_NS - 1, &out);
	assert_int_equal(out.timed_ns, 0);
	cost__poll(&cost, &probe, SUMMARY_TIMED_NS, &out);
	assert_int_equal(out.timed_ns, SUMMARY_TIMED_NS);
	cost__poll(&cost, &probe, 2 * SUMMARY_TIMED_NS, &out);
	cost__end(&cost, &probe, 3 * SUMMARY_TIMED_NS, &out);
	assert_int_equal(out.timed_ns, SUMMARY_TIMED_NS);
}

TEST(a_quiet_probe_is_timed_until_a_busy_one_had_its_time)
{
	struct run_cost busy = { 0 }, quiet = { 0 };
	struct cost other = { 0 };

	cost__new(&other, true);
	assert_int_equal(opened, 1); /* both share what the kernel measures */
	cost__begin(&other, &probe);
	seen = SUMMARY_COST_EVENTS - 1;
	cost__poll(&other, &probe, 2 * SUMMARY_TIMED_MOST_NS, &quiet);
	assert_int_equal(quiet.timed_ns, 0);
	seen = SUMMARY_COST_EVENTS;
	cost__poll(&cost, &probe, SUMMARY_TIMED_NS, &busy);
	assert_int_equal(busy.timed_ns, SUMMARY_TIMED_NS);
	seen = SUMMARY_COST_EVENTS - 1;
	cost__poll(&other, &probe, SUMMARY_TIMED_MOST_NS - 1, &quiet);
	assert_int_equal(quiet.timed_ns, 0);
	cost__poll(&other, &probe, SUMMARY_TIMED_MOST_NS, &quiet);
	assert_int_equal(quiet.timed_ns, SUMMARY_TIMED_MOST_NS);
}

TEST(a_probe_that_was_refused_is_not_waited_for)
{
	struct cost refused = { 0 };

	cost__new(&refused, true);
	cost__free(&refused);
	seen = SUMMARY_COST_EVENTS;
	cost__poll(&cost, &probe, SUMMARY_TIMED_NS, &out);
	assert_int_equal(out.timed_ns, SUMMARY_TIMED_NS);
}

TEST(a_probe_that_is_not_to_be_timed_asks_for_nothing)
{
	struct cost untimed = { 0 };

	opened = 0;
	cost__new(&untimed, false);
	cost__end(&untimed, &probe, SUMMARY_TIMED_NS, &out);
	assert_int_equal(opened, 0);
	assert_int_equal(out.timed_ns, 0);
}

UNIT_FIXTURES(.each = { begin, end })
