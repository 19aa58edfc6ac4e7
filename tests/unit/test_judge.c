// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

#include "stats/judge.h"
#include "stats/inference.h"

#define ALL ((1U << JUDGE_STATISTICS) - 1)
#define MOST 16

/* Groups that are made observation by observation, and how they are judged. */
static struct pair {
	struct judge_rules rules;
	struct observation observations[2][MOST];
	size_t nr[2];
	size_t windows[2]; /* of a second each; windows beyond the observations are empty */
	struct judged statistics[JUDGE_STATISTICS];
	ssize_t family;
} pair;

static void begin(void)
{
	memset(&pair, 0, sizeof(pair));
	pair.rules = (struct judge_rules){ .confidence = 0.95, .statistics = ALL };
}

static void end(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		while (pair.nr[i])
			observation__clear(&pair.observations[i][--pair.nr[i]]);
	}
}

/* As at the beginning of the test. */
static void again(void)
{
	end();
	begin();
}

static void take(unsigned int group, const struct lat_hist *hist)
{
	struct observation *observation = &pair.observations[group][pair.nr[group]++];

	assert_int_equal(observation__take(observation, hist), 0);
	observation->window = pair.windows[group]++;
}

/* A body around a latency, from a third below to a third above it, and a tail of 20 us. */
static void add_observation(unsigned int group, uint64_t ns, uint64_t events, uint64_t tail)
{
	struct lat_hist hist = { 0 };

	for (unsigned int i = 0; i < 20; i++)
		sample_add(&hist, ns * (20 + i) / 30, (events - tail) / 20);
	sample_add(&hist, ns, (events - tail) % 20);
	sample_add(&hist, 20000, tail);
	take(group, &hist);
}

/* Observations that vary by some percent, in the latency and in the tail. */
static void add_observations(unsigned int group, unsigned int nr, uint64_t ns, uint64_t events,
			     uint64_t tail)
{
	for (unsigned int i = 0; i < nr; i++)
		add_observation(group, ns * (98 + 2 * (i % 3)) / 100, events,
				tail * (97 + 3 * ((i + 1) % 3)) / 100);
}

static void judge(void)
{
	static uint64_t seconds[2 * MOST];
	struct judged *family[] = { pair.statistics };
	struct judge_group groups[2];

	for (unsigned int i = 0; i < 2 * MOST; i++)
		seconds[i] = 1000000000;
	for (unsigned int i = 0; i < 2; i++)
		groups[i] = (struct judge_group){ pair.observations[i], pair.nr[i],
						  pair.rules.batches ? 1 : pair.windows[i], seconds,
						  pair.windows[i] };
	judge__statistics(&pair.rules, &groups[0], &groups[1], pair.statistics);
	pair.family = judge__verdicts(&pair.rules, family, 1);
}

/* What add_observations() takes. */
struct mix {
	unsigned int nr;
	uint64_t ns, events, tail;
};

static void judge_mixes(struct mix off, struct mix on)
{
	add_observations(0, off.nr, off.ns, off.events, off.tail);
	add_observations(1, on.nr, on.ns, on.events, on.tail);
	judge();
}

static enum judge_verdict verdict(unsigned int statistic)
{
	return pair.statistics[statistic].verdict;
}

static void assert_cannot_tell(unsigned int statistic, const char *why)
{
	const struct judged *judged = &pair.statistics[statistic];

	assert_false(judged->tested);
	assert_int_equal(judged->verdict, JUDGE_NO_DIFFERENCE);
	assert_true(isnan(judged->low) && isnan(judged->p));
	if (!strstr(judged->why, why))
		fail_msg("%s: '%s' is not in '%s'", judge__name(statistic), why, judged->why);
}

static void assert_nothing_shown(void)
{
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		assert_int_equal(verdict(i), JUDGE_NO_DIFFERENCE);
}

static const struct judged *const tail = &pair.statistics[JUDGE_TAIL];
static const struct judged *const mean = &pair.statistics[JUDGE_MEAN];
static const struct judged *const rate = &pair.statistics[JUDGE_RATE];
static const struct judged *const tail_rate = &pair.statistics[JUDGE_TAIL_RATE];
static const struct judged *const p50 = &pair.statistics[JUDGE_QUANTILE + SUMMARY_P50];

TEST(names)
{
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		assert_int_equal(judge__find(judge__name(i)), i);
	assert_int_equal(judge__find("p99.9"), JUDGE_QUANTILE + SUMMARY_P999);
	assert_true(judge__find("p98") < 0);
	assert_string_equal(judge__word(JUDGE_NO_DIFFERENCE), "no difference shown");
}

/* Means in steps of 10 %: sums of squares 2 and 5 log(1.1)^2, with 2 and 3 degrees of freedom. */
TEST(spread_from_run_to_run)
{
	double ns[2] = { 100000, 200000 };

	for (unsigned int i = 0; i < 7; i++) {
		add_observation(i > 2, (uint64_t)ns[i > 2], 100000, 0);
		ns[i > 2] *= 1.1;
	}
	judge();
	assert_true(fabs(mean->spread - log(1.1) * sqrt(7.0 / 5)) < 1e-4);
	pair.rules.batches = true;
	judge();
	assert_true(isnan(mean->spread));
}

TEST(worse_and_better)
{
	judge_mixes((struct mix){ 5, 1000, 100000, 1000 }, (struct mix){ 5, 2000, 100000, 2000 });
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_WORSE);
	assert_int_equal(verdict(JUDGE_QUANTILE + SUMMARY_P50), JUDGE_WORSE);
	assert_int_equal(verdict(JUDGE_MEAN), JUDGE_WORSE);
	assert_int_equal(pair.family, 9);
	assert_true(tail->ratio > 1.98 && tail->ratio < 2.02);
	assert_true(tail->low < tail->ratio && tail->ratio < tail->high);
	assert_true(tail->low > 1.8 && tail->high < 2.2);
	assert_true(tail->p <= tail->adjusted && tail->adjusted <= 0.05);
	again();
	judge_mixes((struct mix){ 5, 2000, 100000, 2000 }, (struct mix){ 5, 1000, 100000, 1000 });
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_BETTER);
	assert_int_equal(verdict(JUDGE_QUANTILE + SUMMARY_P50), JUDGE_BETTER);
}

TEST(more_events_are_not_more_tail)
{
	judge_mixes((struct mix){ 5, 1000, 16165, 136 }, (struct mix){ 5, 1000, 273286, 186 });
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_BETTER);
	assert_true(tail->high < 0.1);
}

TEST(identical_runs)
{
	for (unsigned int i = 0; i < 6; i++)
		add_observation(i % 2, 1000, 100000, 1000);
	judge();
	assert_nothing_shown();
	assert_true(tail->p == 1);
	assert_true(mean->ratio == 1);
}

TEST(nothing_at_all)
{
	judge();
	assert_int_equal(pair.family, 0);
	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++) {
		assert_cannot_tell(i, "no events in either group");
		assert_true(isnan(pair.statistics[i].off) && isnan(pair.statistics[i].ratio));
	}
	add_observations(0, 3, 1000, 1000, 10);
	judge();
	assert_cannot_tell(JUDGE_TAIL, "no events on ON");
	assert_false(isnan(tail->off));
}

TEST(too_few_observations)
{
	judge_mixes((struct mix){ 2, 1000, 100000, 1000 }, (struct mix){ 5, 1000, 100000, 1000 });
	assert_cannot_tell(JUDGE_TAIL, "too few runs on OFF: 2, 3 are needed");
	pair.rules.batches = true;
	judge();
	assert_cannot_tell(JUDGE_MEAN, "too few intervals on OFF: a recording needs 10");
}

TEST(no_tail_on_either_group)
{
	judge_mixes((struct mix){ 3, 1000, 100000, 0 }, (struct mix){ 3, 1000, 100000, 0 });
	assert_cannot_tell(JUDGE_TAIL, "no tail in either group");
	assert_true(tail->off == 0 && tail->on == 0);
	assert_true(mean->tested);
}

TEST(no_tail_on_one_group)
{
	judge_mixes((struct mix){ 5, 1000, 100000, 0 }, (struct mix){ 5, 1000, 100000, 1000 });
	assert_true(tail->off == 0);
	assert_int_equal(tail->verdict, JUDGE_WORSE);
	assert_true(isfinite(tail->ratio) && isfinite(tail->high));
}

/* A wait of 8 us is short here: the half event does not make it 99.9 %. */
TEST(all_in_the_tail)
{
	for (unsigned int i = 0; i < 5; i++) {
		add_observation(0, 20000, 8000 + i, 8000 + i);
		add_observation(1, 20000, 800 + i, 800 + i);
	}
	judge();
	assert_true(tail->off == 1 && tail->on == 1);
	assert_true(isnan(share__odds_ratio(tail->off, tail->on)));
	assert_int_equal(tail->verdict, JUDGE_NO_DIFFERENCE);
}

/* Two events a run against none: the runs do not vary at all, but counts do. */
TEST(a_few_tail_events)
{
	add_observations(0, 12, 1000, 1000, 0);
	for (unsigned int i = 0; i < 12; i++)
		add_observation(1, 1000, 1000, 2);
	judge();
	assert_true(tail->p > 0.0001 && tail->p < 0.01);
	assert_true(tail->low < 2.5);
}

TEST(too_few_events_for_a_share)
{
	judge_mixes((struct mix){ 10, 1000, 20, 0 }, (struct mix){ 10, 1000, 100000, 1000 });
	assert_cannot_tell(JUDGE_TAIL, "OFF would have 2 in its tail");
	again();
	/* But it has more than enough. */
	judge_mixes((struct mix){ 5, 1000, 120, 100 }, (struct mix){ 5, 1000, 1000000, 2000 });
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_BETTER);
}

TEST(too_few_events_for_a_quantile)
{
	judge_mixes((struct mix){ 3, 1000, 9999, 100 }, (struct mix){ 3, 1000, 200000, 2000 });
	assert_cannot_tell(JUDGE_QUANTILE + SUMMARY_P999, "OFF has 9,999 in a run, 10,000");
	assert_cannot_tell(JUDGE_QUANTILE + SUMMARY_P9999, "100,000 are needed");
	assert_true(pair.statistics[JUDGE_QUANTILE + SUMMARY_P99].tested);
	assert_int_equal(pair.family, 7);
	pair.rules.batches = true;
	judge();
	assert_true(pair.statistics[JUDGE_QUANTILE + SUMMARY_P999].tested);
	assert_cannot_tell(JUDGE_QUANTILE + SUMMARY_P9999, "OFF has 29,997, 100,000");
}

/* Both means are equally well known, or one depends on an event that came once. */
TEST(a_mean_of_few_events)
{
	struct lat_hist hist = { 0 };

	for (unsigned int i = 0; i < 6; i++) {
		memset(&hist, 0, sizeof(hist));
		sample_add(&hist, 1000 + i, 10000);
		sample_add(&hist, 20000000, i % 2);
		take(i % 2, &hist);
	}
	judge();
	assert_true(mean->tested);
	assert_true(mean->ratio > 2.9);
	assert_true(mean->low < 1 && mean->p > 0.05);
	again();
	judge_mixes((struct mix){ 3, 1000, 9, 0 }, (struct mix){ 3, 1000, 10000, 0 });
	assert_cannot_tell(JUDGE_MEAN, "OFF has 9 in a run, 10 are needed");
}

TEST(below_the_resolution)
{
	/* Medians within slot 0, [0, 31.25) ns, that differ by where it ends. */
	for (unsigned int i = 0; i < 6; i++) {
		struct lat_hist hist = { 0 };

		sample_add(&hist, 10, i % 2 ? 60000 + i : 90000 + i);
		sample_add(&hist, 100, 40000);
		take(i % 2, &hist);
	}
	judge();
	assert_true(p50->tested && p50->adjusted < 0.05);
	assert_int_equal(p50->verdict, JUDGE_NO_DIFFERENCE);
	assert_has(p50->why, "less than the width of a histogram slot");
}

TEST(only_what_is_asked_for)
{
	pair.rules.statistics = 1U << JUDGE_TAIL;
	judge_mixes((struct mix){ 3, 1000, 100000, 1000 }, (struct mix){ 3, 2000, 100000, 2000 });
	assert_int_equal(pair.family, 1);
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_WORSE);
	assert_true(tail->adjusted == tail->p);
	assert_int_equal(verdict(JUDGE_MEAN), JUDGE_NO_DIFFERENCE);
	assert_false(isnan(mean->low));
}

TEST(a_minimal_effect)
{
	pair.rules.min_effect = 0.1;
	judge_mixes((struct mix){ 5, 1000, 100000, 1000 }, (struct mix){ 5, 1300, 100000, 1300 });
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_WORSE);
	pair.rules.min_effect = 0.5;
	judge();
	assert_nothing_shown();
	assert_true(tail->p == 1);
}

TEST(correction_is_said)
{
	static struct judged others[40][JUDGE_STATISTICS];
	struct judged *family[41] = { pair.statistics };

	judge_mixes((struct mix){ 5, 1000, 100000, 1000 }, (struct mix){ 5, 1000, 100000, 1050 });
	assert_true(tail->p < 0.05);
	for (unsigned int i = 0; i < 40; i++) {
		others[i][0] = (struct judged){ .p = 0.5, .ratio = 1, .tested = true };
		family[i + 1] = others[i];
	}
	pair.statistics[JUDGE_TAIL].verdict = JUDGE_NO_DIFFERENCE;
	assert_int_equal(judge__verdicts(&pair.rules, family, 41), 49);
	assert_true(tail->adjusted > 0.05);
	assert_int_equal(tail->verdict, JUDGE_NO_DIFFERENCE);
	assert_has(tail->why, "not as one of 49 tests");
}

/* An idle machine: of 5 batches 3 are empty, or all. It is an observation, not a missing one. */
TEST(idle_is_data)
{
	pair.rules.batches = true;
	pair.rules.run_spread = JUDGE_RUN_SPREAD;
	pair.windows[0] = 5;
	add_observations(1, 5, 1000, 10000, 300);
	judge();
	assert_int_equal(verdict(JUDGE_RATE), JUDGE_MORE);
	assert_int_equal(verdict(JUDGE_TAIL_RATE), JUDGE_MORE);
	assert_true(rate->off == 0 && rate->on == 10000 && rate->low > 100);
	assert_true(tail_rate->off == 0);
	assert_cannot_tell(JUDGE_MEAN, "no events on OFF");
	assert_string_equal(judge__verdict(mean), "cannot tell");
	pair.windows[0] = 0;
	add_observations(0, 2, 1000, 20, 0);
	pair.windows[0] = 5;
	judge();
	assert_int_equal(verdict(JUDGE_RATE), JUDGE_MORE);
	assert_true(rate->off == 8);
	assert_cannot_tell(JUDGE_MEAN,
			   "too few batches of intervals on OFF have events: 2 of 5, 3 are needed");
}

/* A batch of one event, from an idle moment, is no observation: the others are. */
TEST(a_nearly_empty_batch)
{
	pair.rules.batches = true;
	add_observation(0, 1000, 1, 0);
	judge_mixes((struct mix){ 4, 1000, 100000, 100 }, (struct mix){ 5, 1000, 100000, 50000 });
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_WORSE);
	assert_int_equal(verdict(JUDGE_MEAN), JUDGE_WORSE);
	assert_true(tail->low > 200);
	again();
	pair.rules.batches = true;
	add_observations(0, 3, 1000, 2, 0);
	judge_mixes((struct mix){ 2, 1000, 100000, 100 }, (struct mix){ 5, 1000, 100000, 50000 });
	assert_cannot_tell(JUDGE_QUANTILE + SUMMARY_P50,
			   "too few batches of intervals on OFF have enough events: 2 of 5, 3");
}

/* The tail's share of all is 1 of 32: of the batch of 16, half an event; of the last, less. */
TEST(test_a_batch_counts_if_half_an_event_is_expected_in_its_tail)
{
	pair.rules.batches = true;
	add_observation(0, 1000, 17, 14);
	add_observations(0, 2, 1000, 100, 0);
	add_observation(1, 1000, 200, 0);
	add_observation(1, 1000, 16, 0);
	add_observation(1, 1000, 15, 0);
	judge();
	assert_cannot_tell(JUDGE_TAIL, "on ON have enough events: 2 of 3, 3 are needed");
}

TEST(fewer_is_neither_worse_nor_better)
{
	judge_mixes((struct mix){ 5, 1000, 100000, 1000 }, (struct mix){ 5, 1000, 10000, 100 });
	assert_int_equal(verdict(JUDGE_RATE), JUDGE_FEWER);
	assert_int_equal(verdict(JUDGE_TAIL_RATE), JUDGE_FEWER);
	assert_string_equal(judge__word(JUDGE_FEWER), "fewer");
	assert_int_equal(verdict(JUDGE_TAIL), JUDGE_NO_DIFFERENCE);
}

TEST(a_rate_of_few_events)
{
	pair.windows[0] = 5;
	add_observation(1, 1000, 4, 0);
	pair.windows[1] = 5;
	judge();
	assert_cannot_tell(JUDGE_RATE, "too few events: 0 and 4, one group needs 5");
	assert_cannot_tell(JUDGE_TAIL_RATE, "no tail in either group");
	add_observation(1, 1000, 4, 0);
	pair.rules.batches = true;
	pair.windows[0] = 2;
	judge();
	assert_cannot_tell(JUDGE_RATE, "too few intervals on OFF: a recording needs 10");
}

#define PAIRS 4000

/* A Poisson count of a small average. */
static unsigned int draw(double average)
{
	double product = 1;
	unsigned int count = 0;

	for (;; count++) {
		product *= unit_uniform();
		if (product < exp(-average))
			return count;
	}
}

static void draw_observations(unsigned int group, unsigned int windows, double average)
{
	for (unsigned int i = 0; i < windows; i++) {
		struct lat_hist hist = { 0 };

		sample_add(&hist, 1000, draw(average));
		if (hist.sum_ns)
			take(group, &hist);
		pair.windows[group] = i + 1;
	}
}

/* Share of pairs with equal sparse rates that get a verdict, by batches and by runs. */
TEST(equal_rates_are_seldom_told_apart)
{
	static const double means[] = { 0.3, 1, 3, 20 };

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int wrong = 0;

		for (unsigned int j = 0; j < PAIRS; j++) {
			again();
			pair.rules.statistics = 1U << JUDGE_RATE;
			pair.rules.batches = i % 2;
			draw_observations(0, 5, means[i / 2]);
			draw_observations(1, 5, means[i / 2]);
			judge();
			wrong += verdict(JUDGE_RATE) != JUDGE_NO_DIFFERENCE;
		}
		if (wrong > PAIRS * 0.06)
			fail_msg("mean %g, batches %u: %u of %u wrong", means[i / 2], i % 2, wrong,
				 PAIRS);
	}
}

/* Tails of each 100,000 events of its batches. */
static enum judge_verdict verdict_of_one_run(double spread, uint64_t off, uint64_t on)
{
	again();
	pair.rules.batches = true;
	pair.rules.run_spread = spread;
	judge_mixes((struct mix){ 5, 1000, 100000, off }, (struct mix){ 5, 1000, 100000, on });
	return tail->verdict;
}

/* Batches of one run: a difference that batches would show is none if runs differ by 25 %. */
TEST(one_run)
{
	double low;

	pair.rules.batches = true;
	judge_mixes((struct mix){ 5, 1000, 100000, 1000 }, (struct mix){ 5, 1000, 100000, 1500 });
	assert_int_equal(tail->verdict, JUDGE_WORSE);
	low = tail->low;
	pair.rules.run_spread = JUDGE_RUN_SPREAD;
	judge();
	assert_int_equal(tail->verdict, JUDGE_NO_DIFFERENCE);
	assert_true(tail->low < low);
	/* Over all events, not over the typical batch. */
	assert_true(tail->off * 500000 ==
		    pair.observations[0][0].hist.tail + pair.observations[0][1].hist.tail +
			    pair.observations[0][2].hist.tail + pair.observations[0][3].hist.tail +
			    pair.observations[0][4].hist.tail);
	assert_int_equal(verdict_of_one_run(JUDGE_RUN_SPREAD, 50, 1000), JUDGE_NO_DIFFERENCE);
	assert_int_equal(verdict_of_one_run(0.25, 50, 1000), JUDGE_WORSE);
	assert_int_equal(verdict_of_one_run(JUDGE_RUN_SPREAD, 10, 50000), JUDGE_WORSE);
}

TEST(a_window_of_no_time)
{
	const struct observation observations[] = { { .window = 0, .events = 5 },
						    { .window = 2, .events = 7 } };
	const uint64_t windows_ns[] = { 1000000000, 0, 1000000000 };

	for (int batches = 0; batches < 2; batches++) {
		struct rate found = rate__of(observations, 2, windows_ns, 3, false, batches);

		assert_true(found.per_second == 6);
		assert_true(isfinite(found.centre));
		assert_true(isfinite(found.variance));
	}
}

/* The variance of a mean of logarithms is a ninth of the sum of three: 1 / (n + 1) each. */
TEST(spread_of_a_mean_of_rates)
{
	const struct observation observations[] = { { .window = 0, .events = 9 },
						    { .window = 1, .events = 19 },
						    { .window = 2, .events = 39 } };
	const uint64_t windows_ns[] = { 1000000000, 1000000000, 1000000000 };
	struct rate found = rate__of(observations, 3, windows_ns, 3, false, false);

	assert_true(fabs(found.known - 0.175 / 9) < 1e-12);
	assert_true(fabs(found.centre - log(9.5 * 19.5 * 39.5) / 3) < 1e-12);
	assert_true(fabs(found.per_second - cbrt(9.0 * 19 * 39)) < 1e-9);
	found = rate__of(observations, 3, windows_ns, 3, false, true);
	assert_true(fabs(found.known - 1.0 / 68) < 1e-12);
	assert_true(fabs(found.centre - log(67.5 / 3)) < 1e-12);
	assert_true(fabs(found.per_second - 67.0 / 3) < 1e-9);
}

UNIT_FIXTURES(.each = { begin, end })
