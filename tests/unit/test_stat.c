// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

#include "stats/inference.h"
#include "stats/judge.h"

/* Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.10. */
TEST(t_against_the_table)
{
	static const struct {
		double p, df, t;
	} table[] = {
		{ 0.975, 1, 12.706 }, { 0.975, 2, 4.303 },  { 0.975, 5, 2.571 },
		{ 0.975, 10, 2.228 }, { 0.975, 30, 2.042 }, { 0.975, 120, 1.980 },
		{ 0.995, 1, 63.657 }, { 0.995, 4, 4.604 },  { 0.995, 20, 2.845 },
		{ 0.9995, 5, 6.869 }, { 0.95, 3, 2.353 },   { 0.9, 8, 1.397 },
	};

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		double t = dist__t_quantile(table[i].p, table[i].df);

		assert_near(t, table[i].t, 0.00051);
		assert_near(dist__t_quantile(1 - table[i].p, table[i].df), -t, 1e-9);
		assert_near(dist__t_both_tails(t, table[i].df), 2 * (1 - table[i].p), 1e-10);
	}
}

TEST(t_at_its_ends)
{
	assert_near(dist__t_both_tails(0, 3), 1, 1e-15);
	assert_near(dist__t_both_tails(-2.571, 5), dist__t_both_tails(2.571, 5), 0);
	assert_near(dist__t_both_tails(INFINITY, 3), 0, 0);
	/* df = 2 has a closed form: 1 - t / sqrt(2 + t^2). */
	assert_near(dist__t_both_tails(1.5, 2), 1 - 1.5 / sqrt(2 + 2.25), 1e-13);
	assert_near(dist__t_both_tails(1000, 2) / (1 - 1000 / sqrt(2 + 1e6)), 1, 1e-8);
	assert_near(dist__t_quantile(0.975, 1e7), dist__normal_quantile(0.975), 1e-5);
}

/* By numeric integration of the density with 60 digits. Normal: beyond 1e9 these digits agree. */
TEST(t_of_many_degrees)
{
	static const struct {
		double df, t, tails;
	} table[] = {
		{ 1e5, 1.96, 0.0499985631943 },	     { 1e5, 5, 5.74270167864e-7 },
		{ 1e6, 0.1, 0.920344345492 },	     { 1e6, 1.96, 0.0499960675853 },
		{ 1e6, 5, 5.73399787089e-7 },	     { 1e6, 8, 1.24550634332e-15 },
		{ 1e7, 1.96, 0.0499958180253 },	     { 1e7, 8, 1.24432348028e-15 },
		{ 1e8, 1.96, 0.0499957930693 },	     { 1e8, 8, 1.24420525082e-15 },
		{ INFINITY, 1.96, 0.0499957902964 }, { INFINITY, 8, 1.244192114854e-15 },
	};

	for (size_t i = 0; i < COUNT_OF(table); i++)
		assert_near(dist__t_both_tails(table[i].t, table[i].df) / table[i].tails, 1, 3e-8);
	assert_near(dist__t_both_tails(1.96, 999999) - dist__t_both_tails(1.96, 1e6), 2.8e-13,
		    1e-9);
	for (double df = 1e9; df < 1e19; df *= 10) {
		assert_near(dist__t_quantile(0.975, df), 1.959963984540, 1e-8);
		assert_near(dist__t_quantile(0.995, df), 2.575829303549, 1e-8);
		assert_near(dist__t_both_tails(1, df), 0.317310507863, 1e-9);
		assert_near(dist__t_both_tails(-1.96, df), 0.049995790296, 1e-9);
	}
}

TEST(normal_quantiles)
{
	assert_near(dist__normal_quantile(0.975), 1.959963985, 1e-8);
	assert_near(dist__normal_quantile(0.005), -2.575829304, 1e-8);
	assert_near(dist__normal_quantile(0.5), 0, 1e-9);
}

/* R. G. Newcombe, Stat. Med. 17 (1998) 857-872, table I, method 3. */
TEST(wilson_against_newcombe)
{
	static const struct {
		uint64_t part, whole;
		double low, high;
	} table[] = {
		{ 81, 263, 0.2553, 0.3662 },
		{ 15, 148, 0.0624, 0.1605 },
		{ 0, 20, 0, 0.1611 },
		{ 1, 29, 0.0061, 0.1718 },
	};

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct share_interval got = share__wilson(table[i].part, table[i].whole, 0.95);
		struct share_interval rest =
			share__wilson(table[i].whole - table[i].part, table[i].whole, 0.95);

		assert_near(got.low, table[i].low, 0.00005);
		assert_near(got.high, table[i].high, 0.00005);
		assert_near(rest.low, 1 - got.high, 1e-12);
		assert_near(rest.high, 1 - got.low, 1e-12);
	}
	assert_near(share__wilson(0, 0, 0.95).low, 0, 0);
	assert_near(share__wilson(0, 0, 0.95).high, 1, 0);
}

TEST(odds)
{
	assert_near(share__odds_ratio(0.2, 0.5), 4, 1e-12);
	assert_near(share__odds_ratio(0.2, 0), 0, 0);
	assert_true(isnan(share__odds_ratio(0, 0.5)));
	assert_true(isnan(share__odds_ratio(0.5, 1)));
	assert_true(isnan(share__odds_ratio(NAN, 0.5)));
}

TEST(holm_worked_out)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 }, alone = 0.2, large[] = { 0.6, 0.7 };

	assert_int_equal(holm__adjust(p, 4), 0);
	assert_near(p[0], 0.03, 1e-15);
	assert_near(p[1], 0.06, 1e-15); /* 0.04 * 1, but not before 0.03 * 2 */
	assert_near(p[2], 0.06, 1e-15);
	assert_near(p[3], 0.02, 1e-15);
	assert_int_equal(holm__adjust(&alone, 1), 0);
	assert_near(alone, 0.2, 0);
	assert_int_equal(holm__adjust(large, 2), 0);
	assert_near(large[0], 1, 0);
	assert_near(large[1], 1, 0);
	assert_int_equal(holm__adjust(NULL, 0), 0);
}

/* Equal numbers: Welch's. Else the more cautious of the two. By hand from means and variances. */
TEST(contrasts)
{
	const struct contrast_group one = { 20.8, 7.9, 15, 0 }, two = { 23.0, 3.8, 15, 0 };
	const struct contrast_group few = { 20.6, 9.0, 10, 0 }, many = { 22.1, 0.9, 20, 0 };
	struct contrast_group calm = { 19.4, 1.4, 10, 0 }, wild = { 21.6, 17.1, 20, 0 };
	struct contrast got;

	got = contrast__of(&one, &two, 0.95, 0);
	assert_near(got.difference, 2.2, 1e-12);
	assert_near(got.p, 0.0194, 0.0005); /* t = 2.491, df = 24.9 */
	assert_near(got.low, 2.2 - 2.060 * sqrt(11.7 / 15), 0.001);
	got = contrast__of(&few, &many, 0.95, 0);
	assert_near(got.p, 0.154, 0.001); /* Welch: t = 1.543, df = 9.9; pooled: 0.045 */
	got = contrast__of(&calm, &wild, 0.95, 0);
	assert_near(got.p, 0.113, 0.001); /* pooled: t = 1.638, df = 28; Welch: 0.036 */
	assert_near((got.high + got.low) / 2, got.difference, 1e-12);
	calm.known = 0.5;
	wild.known = 0.3;
	got = contrast__of(&calm, &wild, 0.95, 0);
	assert_near(got.p, 0.178, 0.001); /* pooled: t = 1.362, df = 58.3 */
}

TEST(contrasts_with_a_margin)
{
	const struct contrast_group off = { 0, 1, 10, 0 }, on = { 2, 1, 10, 0 };
	struct contrast plain = contrast__of(&off, &on, 0.95, 0);
	struct contrast at_bound = contrast__of(&off, &on, 0.95, plain.low);

	/* Significant against a margin just if the interval lies beyond it. */
	assert_near(at_bound.p, 0.05, 1e-9);
	assert_near(contrast__of(&on, &off, 0.95, plain.low).p, 0.05, 1e-9);
	assert_near(contrast__of(&off, &on, 0.95, 3).p, 1, 0);
}

/* Whichever test sees less: at the end of its interval p is what the interval leaves. */
TEST(contrasts_with_a_margin_of_unlike_groups)
{
	const struct contrast_group off = { 0, 1, 10, 0 };
	const struct contrast_group on[] = { { 4, 17, 20, 0 }, { 9, 17, 5, 0 } };
	struct contrast plain;

	for (int i = 0; i < 2; i++) {
		plain = contrast__of(&off, &on[i], 0.9, 0);
		assert_true(plain.low > 0.5);
		assert_near(contrast__of(&off, &on[i], 0.9, plain.low).p, 0.1, 1e-9);
		assert_near(contrast__of(&on[i], &off, 0.9, plain.low).p, 0.1, 1e-9);
	}
}

TEST(contrasts_without_variance)
{
	const struct contrast_group off = { 1, 0, 3, 0 }, same = off, other = { 2, 0, 3, 0 };
	struct contrast_group known = other;
	struct contrast got = contrast__of(&off, &same, 0.95, 0);

	assert_near(got.p, 1, 0);
	assert_near(got.high, got.low, 0);
	assert_near(contrast__of(&off, &other, 0.95, 0).p, 0, 0);
	known.known = 1;
	got = contrast__of(&off, &known, 0.95, 0);
	assert_in_range((int)(got.p * 100), 30, 40);
}

static struct contrast_group summarise(const double *values, unsigned int nr)
{
	struct contrast_group group = { .observations = nr };

	for (unsigned int i = 0; i < nr; i++)
		group.centre += values[i] / nr;
	for (unsigned int i = 0; i < nr; i++)
		group.variance +=
			(values[i] - group.centre) * (values[i] - group.centre) / (nr - 1);
	return group;
}

/* Fills in the observations of a group, which differs by chance only. */
typedef void draw_group(double *values, unsigned int nr);

/* Returns the percentage of 95 % intervals that do not include a difference of 0. */
static double missed(draw_group *draw, unsigned int off, unsigned int on, unsigned int pairs)
{
	unsigned int missing = 0;
	double values[64] = { 0 };

	for (unsigned int i = 0; i < pairs; i++) {
		struct contrast_group groups[2];
		struct contrast got;

		for (unsigned int j = 0; j < 2; j++) {
			draw(values, j ? on : off);
			groups[j] = summarise(values, j ? on : off);
		}
		got = contrast__of(&groups[0], &groups[1], 0.95, 0);
		missing += got.low > 0 || got.high < 0;
	}
	return 100.0 * missing / pairs;
}

static void draw_normal(double *values, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		values[i] = unit_normal();
}

static void draw_skewed(double *values, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		values[i] = -log(unit_uniform());
}

/* The standard error of 5 % of 2000 is 0.5 %. */
TEST(coverage)
{
	static const unsigned int numbers[][2] = { { 3, 3 }, { 5, 5 }, { 10, 10 }, { 3, 10 } };

	for (size_t i = 0; i < COUNT_OF(numbers); i++)
		assert_true(missed(draw_normal, numbers[i][0], numbers[i][1], 2000) < 6.5);
	assert_true(missed(draw_normal, 10, 10, 2000) > 3.5);
	/* Worse than a logarithm of latencies is. */
	assert_true(missed(draw_skewed, 5, 5, 2000) < 6.5);
}

static unsigned int intervals; /* of a series */

/* Batches of a series in which neighbours correlate by 0.6. */
static void draw_batches(double *values, unsigned int batches)
{
	double at = unit_normal();
	unsigned int taken = 0;

	for (unsigned int i = 0; i < batches; i++) {
		unsigned int first = taken;

		for (values[i] = 0; taken < intervals * (i + 1) / batches; taken++) {
			at = 0.6 * at + 0.8 * unit_normal();
			values[i] += at;
		}
		values[i] /= taken - first;
	}
}

TEST(batches_of_what_correlates)
{
	static const struct {
		unsigned int intervals;
		double most;
	} series[] = { { 20, 9 }, { 60, 9 }, { 200, 8 } };

	for (size_t i = 0; i < COUNT_OF(series); i++) {
		unsigned int batches = observation__batches(series[i].intervals);

		intervals = series[i].intervals;
		assert_true(missed(draw_batches, batches, batches, 1000) < series[i].most);
	}
}

TEST(how_many_batches)
{
	assert_int_equal(observation__batches(0), 0);
	assert_int_equal(observation__batches(9), 0);
	assert_int_equal(observation__batches(10), 3);
	assert_int_equal(observation__batches(60), 5);
	assert_int_equal(observation__batches(600), 18);
}

TEST(observations_are_histograms)
{
	struct lat_hist hist = { 0 }, back = { 0 };
	struct observation observation;

	sample_add(&hist, 100, 50);
	sample_add(&hist, 20000, 50);
	sample_add(&hist, HIST_LIMIT_NS, 1);
	assert_int_equal(observation__take(&observation, &hist), 0);
	assert_int_equal(observation.events, 101);
	assert_int_equal(observation.hist.nr, 3);
	sparse__add_to(&back, &observation.hist);
	assert_memory_equal(&back, &hist, sizeof(hist));
	assert_int_equal(observation.hist.tail, 51);
	observation__count_tail(&observation, 32000);
	assert_int_equal(observation.hist.tail, 1);
	observation__count_tail(&observation, 20000);
	assert_int_equal(observation.hist.tail, 51);
	observation__clear(&observation);
}

TEST(edges)
{
	assert_true(observation__is_edge(8000));
	assert_true(observation__is_edge(63000));
	assert_true(observation__is_edge(100000));
	assert_false(observation__is_edge(65000));
	assert_false(observation__is_edge(8001));
	assert_false(observation__is_edge(1000000)); /* 1 ms; 1024 us is one */
	assert_true(observation__is_edge(1024000));
}

TEST(variation)
{
	struct lat_hist hist = { 0 };
	struct observation observation;

	assert_int_equal(observation__take(&observation, &hist), 0);
	assert_near(observation__variation(&observation), 0, 0);
	observation__clear(&observation);
	sample_add(&hist, 1000000, 500);
	sample_add(&hist, 3000000, 500);
	assert_int_equal(observation__take(&observation, &hist), 0);
	assert_near(observation__variation(&observation), 0.5, 0.02);
	observation__clear(&observation);
}

/* Two slots with as many samples: half their distance, over the mean. */
TEST(variation_is_of_the_middles_of_slots)
{
	const uint64_t ns[] = { 1000, 1500000 };
	struct lat_hist hist = { 0 };
	double middles[2];
	struct observation observation;

	for (int i = 0; i < 2; i++) {
		uint32_t slot = hist_slot(ns[i]);

		sample_add(&hist, ns[i], 7);
		middles[i] = (double)(hist_slot_low_ns(slot) + hist_slot_low_ns(slot + 1)) / 2;
	}
	assert_int_equal(observation__take(&observation, &hist), 0);
	assert_near(observation__variation(&observation),
		    (middles[1] - middles[0]) / (middles[1] + middles[0]), 1e-9);
	observation__clear(&observation);
}
