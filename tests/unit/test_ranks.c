// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "stats/inference.h"
#include "stats/ranks.h"

#define PAIRS 400
#define LONGEST 200

static struct ranks_correlation correlate(const double *a, const double *b, size_t nr)
{
	struct ranks_correlation result;

	assert_int_equal(ranks__correlate(a, b, nr, 0.95, &result), 0);
	return result;
}

TEST(ranks_and_ties)
{
	static const double values[] = { 3, 0, 7, 0, 3, 3, 9 };
	static const double wanted[] = { 4, 1.5, 6, 1.5, 4, 4, 7 };
	double ranks[COUNT_OF(values)];

	assert_int_equal(ranks__of(values, COUNT_OF(values), ranks), 0);
	for (size_t i = 0; i < COUNT_OF(values); i++)
		assert_near(ranks[i], wanted[i], 0);
}

/*
 * S. Siegel, Nonparametric Statistics for the Behavioral Sciences, McGraw-Hill 1956, 9.2: twelve
 * students, authoritarianism and striving for status; r_s = 0.82 (the ranks differ by 52 squared).
 */
TEST(siegel)
{
	static const double authority[] = { 82, 98, 87, 40, 116, 113, 111, 83, 85, 126, 106, 117 };
	static const double status[] = { 42, 46, 39, 37, 65, 88, 86, 56, 62, 92, 54, 81 };

	assert_near(correlate(authority, status, 12).rho, 1 - 6 * 52.0 / (12 * (144 - 1)), 1e-12);
}

/*
 * The example of ci.spear() in D. G. Bonett's R package statpsych, which takes the normal
 * distribution where we take Student's t. The pairs are in an order without autocorrelation.
 */
TEST(bonett)
{
	static const double a[] = { 8, 12, 22, 9, 24, 13, 4, 35, 21, 19, 16, 18, 1, 6, 10 };
	static const double b[] = { 20, 28, 37, 30, 44, 28, 28, 52, 67, 51, 40, 40, 10, 14, 25 };
	struct ranks_correlation got = correlate(a, b, 15);
	double z = atanh(got.rho), factor = 1.959964 / dist__t_quantile(0.975, 13);

	assert_near(got.rho, 0.8699639, 1e-7);
	assert_near(got.effective, 15, 0);
	assert_near(tanh(z - factor * (z - atanh(got.low))), 0.5840951, 1e-6);
	assert_near(tanh(z + factor * (atanh(got.high) - z)), 0.9638297, 1e-6);
}

TEST(correlation_of_too_few_or_constant_values_is_unknown)
{
	static const double same[10] = { 0 };
	double rising[20];
	struct ranks_correlation got;

	for (size_t i = 0; i < 20; i++)
		rising[i] = (double)i;
	assert_true(isnan(correlate(rising, rising, 0).rho));
	assert_true(isnan(correlate(rising, rising, 1).rho));
	assert_true(isnan(correlate(rising, same, 10).rho));
	assert_true(isnan(correlate(same, rising, 10).p));
	/* Two trends have one thing in common, however many readings are taken. */
	got = correlate(rising, rising, 20);
	assert_near(got.rho, 1, 1e-12);
	assert_true(got.effective < RANKS_LEAST_EFFECTIVE);
	assert_true(isnan(got.low) && isnan(got.high) && isnan(got.p));
}

TEST(both_ways)
{
	static const double up[] = { 4, 5, 6, 10, 11, 1, 3, 0, 8, 2, 7, 9 };
	double down[COUNT_OF(up)];
	struct ranks_correlation rises, falls;

	for (size_t i = 0; i < COUNT_OF(up); i++)
		down[i] = -up[i];
	rises = correlate(up, up, COUNT_OF(up));
	falls = correlate(up, down, COUNT_OF(up));
	assert_near(rises.rho, 1, 1e-12);
	assert_near(falls.rho, -1, 1e-12);
	assert_near(falls.low, -rises.high, 1e-12);
	assert_near(falls.high, -rises.low, 1e-12);
	assert_near(falls.p, rises.p, 1e-12);
}

/* The lengths of this and of the rest between are geometric; what is in a burst is lognormal. */
static void bursts(double stay, double *series, size_t nr)
{
	int on = unit_uniform() < 0.3;

	for (size_t i = 0; i < nr; i++) {
		series[i] = on ? exp(unit_normal()) : 0;
		if (unit_uniform() < (1 - stay) * (on ? 0.7 : 0.3))
			on = !on;
	}
}

/* AR(1) */
static void drift(double keep, double *series, size_t nr)
{
	double at = unit_normal();

	for (size_t i = 0; i < nr; i++) {
		series[i] = at;
		at = keep * at + sqrt(1 - keep * keep) * unit_normal();
	}
}

static void bursts_or_drift(unsigned int kind, double keep, double *series, size_t nr)
{
	if (kind)
		bursts(keep, series, nr);
	else
		drift(keep, series, nr);
}

/* As if neighbours were independent. */
static int naive(const struct ranks_correlation *got, size_t nr)
{
	double t = got->rho * sqrt((double)(nr - 2) / (1 - got->rho * got->rho));

	return dist__t_both_tails(t, (double)nr - 2) <= 0.05;
}

/* Independent series: 5 % of the pairs may be called correlated, and 3 standard errors more. */
TEST(false_alarms)
{
	static const struct {
		unsigned int kind;
		double keep;
		size_t nr;
	} cases[] = {
		{ 0, 0, 20 },	 { 0, 0.8, 20 }, { 0, 0.6, 60 }, { 0, 0.95, 60 },
		{ 0, 0.8, 200 }, { 1, 0, 60 },	 { 1, 0.6, 60 }, { 1, 0.9, 200 },
	};
	static double a[LONGEST], b[LONGEST];

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int wrong = 0, without = 0;

		for (unsigned int pair = 0; pair < PAIRS; pair++) {
			struct ranks_correlation got;

			bursts_or_drift(cases[i].kind, cases[i].keep, a, cases[i].nr);
			bursts_or_drift(cases[i].kind, cases[i].keep, b, cases[i].nr);
			got = correlate(a, b, cases[i].nr);
			wrong += got.p <= 0.05;
			without += naive(&got, cases[i].nr);
		}
		assert_in_range(wrong, 0, 20 + 13);
		/* Shows that the test can fail: the variance that is allowed for exists. */
		if (cases[i].keep >= 0.8)
			assert_true(without > 2 * wrong && without > 33);
	}
}

/* Half of each series is common to both. Counts how often the interval contains the reference. */
TEST(what_is_there)
{
	const double reference =
		6 / M_PI * asin(0.5 / 2); /* of rho = 0.5, both normal: K. Pearson */
	static double common[LONGEST], a[LONGEST], b[LONGEST];
	int found = 0, covered = 0;

	for (unsigned int pair = 0; pair < PAIRS; pair++) {
		struct ranks_correlation got;

		drift(0.5, common, LONGEST);
		drift(0.5, a, LONGEST);
		drift(0.5, b, LONGEST);
		for (size_t i = 0; i < LONGEST; i++) {
			a[i] += common[i];
			b[i] += common[i];
		}
		got = correlate(a, b, LONGEST);
		found += got.p <= 0.05 && got.rho > 0;
		covered += got.low <= reference && reference <= got.high;
	}
	assert_in_range(found, PAIRS * 99 / 100, PAIRS);
	assert_in_range(covered, PAIRS * 95 / 100 - 13, PAIRS);
}

/* Lag by lag, as it is defined. */
static double effective_by_lags(const double *a, const double *b, size_t nr)
{
	double inflation = 1, square = ((double)nr * (double)nr - 1) / 12, middle = (nr + 1) / 2.0;

	for (size_t lag = 1; lag <= nr / 5; lag++) {
		double of_a = 0, of_b = 0, pairs = (double)(nr - lag);

		for (size_t i = 0; i + lag < nr; i++) {
			of_a += (a[i] - middle) * (a[i + lag] - middle);
			of_b += (b[i] - middle) * (b[i + lag] - middle);
		}
		inflation += 2 * pairs / (double)nr * of_a / pairs * of_b / pairs / square / square;
	}
	return (double)nr / fmax(inflation, 1);
}

TEST(effective_is_that_of_the_lags)
{
	static const size_t lengths[] = { 6, 7, 64, 100, 199 };
	double a[LONGEST], b[LONGEST], ranks[2][LONGEST];

	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		size_t nr = lengths[i];

		drift(0.9, a, nr);
		drift(0.9, b, nr);
		assert_int_equal(ranks__of(a, nr, ranks[0]), 0);
		assert_int_equal(ranks__of(b, nr, ranks[1]), 0);
		assert_near(correlate(a, b, nr).effective,
			    effective_by_lags(ranks[0], ranks[1], nr), 1e-9 * (double)nr);
	}
}
