// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures how often `report` finds a correlation over time between two probes that are
 * independent, and how often it finds a real one. Prints lines as bench/power.c does.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <stats/inference.h>
#include <stats/ranks.h>

#include "synthetic.h"

#define LONGEST 600

static const char usage[] = "usage: together [-n PAIRS] [-s SEED]\n";

static unsigned int pairs = 2000;

/* DRIFT: AR(1). BURSTS: zero, with occasional bursts of some intervals that are lognormal. */
enum kind { DRIFT, BURSTS };

struct scenario {
	const char *name;
	enum kind kind;
	double keep; /* correlation of neighbours; for BURSTS the probability that one goes on */
	unsigned int intervals;
	double common; /* part of the variance that both series share; 0: nothing to find */
	bool naive; /* test as if neighbours were independent */
	double limit; /* upper bound of the figure, lower bound if common is not 0; 0: none */
};

static const struct scenario scenarios[] = {
	{ "wrong.together.10_intervals", DRIFT, 0, 10, 0, false, 5 },
	{ "wrong.together.20_intervals", DRIFT, 0, 20, 0, false, 5 },
	{ "wrong.together.60_intervals", DRIFT, 0, 60, 0, false, 5 },
	{ "wrong.together.600_intervals", DRIFT, 0, 600, 0, false, 5 },
	{ "wrong.together.drift_0.6.20_intervals", DRIFT, 0.6, 20, 0, false, 5 },
	{ "wrong.together.drift_0.6.60_intervals", DRIFT, 0.6, 60, 0, false, 5 },
	{ "wrong.together.drift_0.6.600_intervals", DRIFT, 0.6, 600, 0, false, 5 },
	{ "wrong.together.drift_0.95.20_intervals", DRIFT, 0.95, 20, 0, false, 5 },
	{ "wrong.together.drift_0.95.60_intervals", DRIFT, 0.95, 60, 0, false, 5 },
	{ "wrong.together.drift_0.95.600_intervals", DRIFT, 0.95, 600, 0, false, 5 },
	{ "wrong.together.bursts_0.8.60_intervals", BURSTS, 0.8, 60, 0, false, 5 },
	{ "wrong.together.bursts_0.8.600_intervals", BURSTS, 0.8, 600, 0, false, 5 },
	{ "wrong.together.bursts_0.95.600_intervals", BURSTS, 0.95, 600, 0, false, 5 },
	{ "alternative.naive.60_intervals", DRIFT, 0, 60, 0, true, 0 },
	{ "alternative.naive.drift_0.6.60_intervals", DRIFT, 0.6, 60, 0, true, 0 },
	{ "alternative.naive.drift_0.95.600_intervals", DRIFT, 0.95, 600, 0, true, 0 },
	{ "found.together.half.20_intervals", DRIFT, 0.6, 20, 0.5, false, 0 },
	{ "found.together.half.60_intervals", DRIFT, 0.6, 60, 0.5, false, 0 },
	{ "found.together.half.200_intervals", DRIFT, 0.6, 200, 0.5, false, 95 },
	{ "found.together.nine_tenths.20_intervals", DRIFT, 0.6, 20, 0.9, false, 0 },
	{ "found.together.nine_tenths.60_intervals", DRIFT, 0.6, 60, 0.9, false, 95 },
};

static void drift(double keep, double *series, unsigned int nr)
{
	double at = synthetic__normal();

	for (unsigned int i = 0; i < nr; i++) {
		series[i] = at;
		at = keep * at + sqrt(1 - keep * keep) * synthetic__normal();
	}
}

/* On average a fifth of the intervals are in a burst. */
static void bursts(double keep, double *series, unsigned int nr)
{
	bool on = synthetic__uniform() < 0.2;

	for (unsigned int i = 0; i < nr; i++) {
		series[i] = on ? exp(synthetic__normal()) : 0;
		if (synthetic__uniform() < (1 - keep) * (on ? 1 : 0.25))
			on = !on;
	}
}

static void make(const struct scenario *scenario, const double *common, double *series)
{
	if (scenario->kind == BURSTS) {
		bursts(scenario->keep, series, scenario->intervals);
		return;
	}
	drift(scenario->keep, series, scenario->intervals);
	for (unsigned int i = 0; i < scenario->intervals; i++)
		series[i] =
			sqrt(1 - scenario->common) * series[i] + sqrt(scenario->common) * common[i];
}

static double naive_p(double rho, double nr)
{
	return dist__t_both_tails(rho * sqrt((nr - 2) / (1 - rho * rho)), nr - 2);
}

static bool is_found(const struct scenario *scenario)
{
	static double common[LONGEST], a[LONGEST], b[LONGEST];
	struct ranks_correlation got;

	drift(scenario->keep, common, scenario->intervals);
	make(scenario, common, a);
	make(scenario, common, b);
	if (ranks__correlate(a, b, scenario->intervals, 0.95, &got)) {
		fputs("together: out of memory\n", stderr);
		exit(1);
	}
	if (scenario->naive)
		return naive_p(got.rho, scenario->intervals) <= 0.05;
	return got.p <= 0.05 && (!scenario->common || got.rho > 0);
}

static void run_scenario(const struct scenario *scenario)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < pairs; i++)
		found += is_found(scenario);
	synthetic__print_share(scenario->name, (double)found / pairs, pairs,
			       scenario->common > 0 ? "least" : "limit", scenario->limit);
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	int option;

	while ((option = getopt(argc, argv, "n:s:")) != -1) {
		if (option == 'n')
			pairs = (unsigned int)atoi(optarg);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else
			pairs = 0;
	}
	if (!pairs || argc > optind) {
		fputs(usage, stderr);
		return 2;
	}
	printf("# seed %llu, %u pairs\n", (unsigned long long)seed, pairs);
	synthetic__seed(seed);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		run_scenario(&scenarios[i]);
	return 0;
}
