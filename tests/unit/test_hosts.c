// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "core/hist.h"
#include "stats/hosts.h"

#define MOST 24

static const double quantiles[] = { 0.5, 0.99 };

/* Hosts that a test adds, and the verdicts about them. */
static struct fleet {
	struct hosts_rules rules;
	unsigned char in[MOST];
	struct sparse made[2][MOST];
	const struct sparse *hists[2][MOST];
	size_t hosts;
	struct judged judged[2];
	ssize_t tests;
} fleet;

static void begin(void)
{
	memset(&fleet, 0, sizeof(fleet));
	fleet.rules = (struct hosts_rules){ .confidence = 0.95,
					    .quantiles = quantiles,
					    .nr_quantiles = 2 };
}

static void end(void)
{
	for (size_t i = 0; i < MOST; i++) {
		sparse__clear(&fleet.made[0][i]);
		sparse__clear(&fleet.made[1][i]);
	}
}

/* Events spread evenly from `ns` to twice that. */
static void fill(struct sparse *sparse, uint64_t ns, uint64_t events)
{
	struct lat_hist hist = { 0 };

	for (unsigned int i = 0; i < 100; i++) {
		uint64_t at = ns + ns * i / 100;

		hist.slots[hist_slot(at)] += events / 100;
		hist.sum_ns += at * (events / 100);
		hist.max_ns = at;
	}
	assert_int_equal(sparse__set(sparse, &hist), 0);
}

static void add(size_t host, unsigned int group, uint64_t ns, uint64_t events)
{
	fill(&fleet.made[group][host], ns, events);
	fleet.hists[group][host] = &fleet.made[group][host];
	fleet.in[host] |= (unsigned char)(1U << group);
	if (fleet.hosts <= host)
		fleet.hosts = host + 1;
}

/* Hosts of OFF, then of ON, from `ns` on, each a little slower than the one before. */
static void add_groups(size_t off, uint64_t off_ns, size_t on, uint64_t on_ns)
{
	for (size_t i = 0; i < off; i++)
		add(i, 0, off_ns + off_ns * i / 50, 10000 + 1000 * i);
	for (size_t i = 0; i < on; i++)
		add(off + i, 1, on_ns + on_ns * i / 50, 10000 + 1000 * i);
}

static void judge(void)
{
	const struct hosts_latency latency = { { fleet.hists[0], fleet.hists[1] } };

	fleet.tests =
		hosts__compare(&fleet.rules, fleet.in, fleet.hosts, &latency, 1, fleet.judged);
}

static void judge_groups(size_t off, uint64_t off_ns, size_t on, uint64_t on_ns)
{
	add_groups(off, off_ns, on, on_ns);
	judge();
}

TEST(test_groups_far_apart_have_the_least_p_of_all_assignments)
{
	judge_groups(4, 2000, 4, 8000);
	assert_int_equal(fleet.tests, 2);
	for (unsigned int i = 0; i < 2; i++) {
		/* 8 choose 4 is 70; the mirror image is as extreme. */
		assert_float_equal(fleet.judged[i].p, 2. / 70, 1e-9);
		assert_float_equal(fleet.judged[i].adjusted, 2. / 70, 1e-9);
		assert_int_equal(fleet.judged[i].verdict, JUDGE_WORSE);
		assert_true(fleet.judged[i].ratio > 3.8 && fleet.judged[i].ratio < 4.2);
		assert_true(fleet.judged[i].low < fleet.judged[i].ratio * 0.98);
		assert_true(fleet.judged[i].low > 1);
		assert_true(fleet.judged[i].high > fleet.judged[i].ratio * 1.02);
	}
}

/* 17 choose 3 is 680, 17 choose 8 is more than are tried. */
TEST(test_a_large_group_may_be_on_either_side)
{
	judge_groups(14, 2000, 3, 8000);
	assert_float_equal(fleet.judged[0].p, 1. / 680, 1e-9);
	end();
	begin();
	judge_groups(3, 8000, 14, 2000);
	assert_float_equal(fleet.judged[0].p, 1. / 680, 1e-9);
}

TEST(test_the_other_direction_is_better)
{
	judge_groups(5, 8000, 4, 2000);
	/* 9 choose 4; no assignment of unequal groups has a mirror image. */
	assert_float_equal(fleet.judged[1].p, 1. / 126, 1e-9);
	assert_int_equal(fleet.judged[1].verdict, JUDGE_BETTER);
	assert_true(fleet.judged[1].high < 1);
}

TEST(test_equal_groups_have_no_difference)
{
	judge_groups(6, 2000, 6, 2000);
	assert_int_equal(fleet.tests, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_float_equal(fleet.judged[i].ratio, 1, 1e-9);
		assert_float_equal(fleet.judged[i].p, 1, 1e-9);
		assert_int_equal(fleet.judged[i].verdict, JUDGE_NO_DIFFERENCE);
		assert_true(fleet.judged[i].low < 1 && fleet.judged[i].high > 1);
	}
}

/* Half of the hosts of both groups are slow: many events do not make many hosts. */
TEST(test_more_events_do_not_make_more_hosts)
{
	for (size_t i = 0; i < 10; i++)
		add(i, i / 5, i % 2 ? 2000 : 4000, 10000000);
	judge();
	assert_int_equal(fleet.tests, 2);
	assert_int_equal(fleet.judged[0].verdict, JUDGE_NO_DIFFERENCE);
	assert_true(fleet.judged[0].p > 0.3);
}

TEST(test_many_hosts_are_assigned_by_chance_the_same_way_each_time)
{
	double p;

	judge_groups(12, 2000, 12, 2300);
	p = fleet.judged[0].p;
	assert_true(p >= 1. / HOSTS_ASSIGNMENTS && p < 0.05);
	judge();
	assert_float_equal(fleet.judged[0].p, p, 0);
}

TEST(test_three_against_three_cannot_show_anything)
{
	judge_groups(3, 2000, 3, 80000);
	assert_int_equal(fleet.tests, 0);
	assert_string_equal(judge__verdict(&fleet.judged[0]), "cannot tell");
	assert_has(fleet.judged[0].why, "assigned in 20 ways");
	assert_true(isnan(fleet.judged[0].p) && isnan(fleet.judged[0].low));
	assert_true(fleet.judged[0].ratio > 30);
}

TEST(test_two_hosts_are_too_few)
{
	judge_groups(20, 2000, 2, 80000);
	assert_int_equal(fleet.tests, 0);
	assert_has(fleet.judged[0].why, "too few hosts: ON has 2");
}

TEST(test_too_few_events_beyond_a_quantile)
{
	for (size_t i = 0; i < 10; i++)
		add(i, i / 5, 2000, 100);
	judge();
	assert_int_equal(fleet.tests, 1);
	assert_true(fleet.judged[0].tested);
	assert_has(fleet.judged[1].why, "too few events: OFF has 500, 1,000");
}

TEST(test_a_group_without_events_has_no_quantile)
{
	add_groups(6, 2000, 0, 0);
	fleet.in[6] = 2;
	fleet.hosts = 7;
	judge();
	assert_int_equal(fleet.tests, 0);
	assert_true(isnan(fleet.judged[0].on) && !isnan(fleet.judged[0].off));
	assert_string_equal(fleet.judged[0].why, "no events in one group");
}

/* Hosts that differ by much, each a tenth slower than before. */
static void add_changed_hosts(bool paired)
{
	for (size_t i = 0; i < 8; i++) {
		uint64_t ns = 2000 + 150 * i;

		add(i, 0, ns, 10000);
		add(paired ? i : 8 + i, 1, ns + ns / 10, 10000);
	}
}

TEST(test_a_host_in_both_groups_is_compared_with_itself)
{
	add_changed_hosts(true);
	judge();
	/* 2^8 ways to exchange; the mirror image is as extreme. */
	assert_float_equal(fleet.judged[0].p, 2. / 256, 1e-9);
	assert_int_equal(fleet.judged[0].verdict, JUDGE_WORSE);
	assert_true(fleet.judged[0].low > 1.02 && fleet.judged[0].high < 1.2);
}

TEST(test_the_same_difference_of_other_hosts_is_not_shown)
{
	add_changed_hosts(false);
	judge();
	assert_int_equal(fleet.judged[0].verdict, JUDGE_NO_DIFFERENCE);
	assert_true(fleet.judged[0].p > 0.05);
	assert_true(fleet.judged[0].low < 1);
}

TEST(test_differences_up_to_the_least_effect_are_ignored)
{
	judge_groups(8, 2000, 8, 2400);
	assert_int_equal(fleet.judged[0].verdict, JUDGE_WORSE);
	fleet.rules.min_effect = 0.1;
	judge();
	assert_int_equal(fleet.judged[0].verdict, JUDGE_WORSE);
	fleet.rules.min_effect = 0.3;
	judge();
	assert_int_equal(fleet.judged[0].verdict, JUDGE_NO_DIFFERENCE);
	assert_true(fleet.judged[0].p > 0.9);
}

/* The verdict without an effect and the interval come from the same test. */
TEST(test_the_interval_is_the_ratios_that_are_not_rejected)
{
	double low;

	judge_groups(8, 2000, 8, 2400);
	low = fleet.judged[0].low;
	assert_true(low > 1);
	fleet.rules.min_effect = low * 0.99 - 1;
	judge();
	assert_true(fleet.judged[0].p <= 0.05);
	fleet.rules.min_effect = low * 1.01 - 1;
	judge();
	assert_true(fleet.judged[0].p > 0.05);
}

/* Eight services of the same hosts; in one there is a difference. */
TEST(test_p_is_adjusted_for_the_number_of_tests)
{
	struct hosts_latency latencies[8];
	struct sparse others[7][10] = { 0 };
	const struct sparse *pointers[7][2][10] = { 0 };
	struct judged judged[16];

	add_groups(5, 2000, 5, 2130);
	latencies[0] = (struct hosts_latency){ { fleet.hists[0], fleet.hists[1] } };
	for (unsigned int i = 0; i < 7; i++) {
		for (unsigned int j = 0; j < 10; j++) {
			fill(&others[i][j], 1000 + 100 * (unit_random() % 20), 10000);
			pointers[i][j / 5][j] = &others[i][j];
		}
		latencies[i + 1] = (struct hosts_latency){ { pointers[i][0], pointers[i][1] } };
	}
	assert_int_equal(hosts__compare(&fleet.rules, fleet.in, 10, latencies, 1, judged), 2);
	assert_true(judged[0].p <= 0.05 && judged[0].adjusted <= 2 * judged[0].p);
	assert_int_equal(hosts__compare(&fleet.rules, fleet.in, 10, latencies, 8, judged), 16);
	assert_true(judged[0].p <= 0.05 && judged[0].adjusted > 2 * judged[0].p);
	for (unsigned int i = 0; i < 70; i++)
		sparse__clear(&others[i / 10][i % 10]);
}

TEST(test_the_interval_of_a_quantile_contains_it)
{
	struct hosts_interval interval;
	struct lat_hist sum = { 0 };
	double quantile;

	add_groups(6, 2000, 0, 0);
	for (unsigned int i = 0; i < 6; i++)
		sparse__add_to(&sum, fleet.hists[0][i]);
	quantile = (double)hist__quantile_ns(&sum, 0.99);
	interval = hosts__interval(fleet.hists[0], 6, 0.99, 0.95);
	assert_string_equal(interval.why, "");
	assert_true(interval.low < quantile && quantile < interval.high);
	assert_true(interval.low > quantile * 0.8 && interval.high < quantile * 1.2);
	/* More confidence, a wider interval. */
	assert_true(hosts__interval(fleet.hists[0], 6, 0.99, 0.99).low < interval.low);
}

TEST(test_an_interval_needs_hosts_and_events)
{
	add_groups(4, 2000, 0, 0);
	assert_string_equal(hosts__interval(fleet.hists[1], 4, 0.5, 0.95).why, "no events");
	assert_string_equal(hosts__interval(fleet.hists[0], 2, 0.5, 0.95).why, "too few hosts");
	assert_true(isnan(hosts__interval(fleet.hists[0], 2, 0.5, 0.95).low));
	assert_string_equal(hosts__interval(fleet.hists[0], 4, 0.9999, 0.95).why, "too few events");
	add(4, 0, 2000, 100000000);
	assert_string_equal(hosts__interval(fleet.hists[0], 5, 0.5, 0.95).why,
			    "one host has most of the events");
}

UNIT_FIXTURES(.each = { begin, end })
