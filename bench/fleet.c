// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures how often `fleet compare` finds a difference between groups of hosts that do not differ,
 * how often it finds a real one, and how often an interval of a quantile excludes the true value.
 * Prints figure=NAME value=NUMBER unit=% [limit=MOST|least=LEAST] error=STANDARD_ERROR.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/hist.h>
#include <stats/hosts.h>

#include "synthetic.h"

#define MOST_HOSTS 64
#define REFERENCE_HOSTS 40000 /* whose quantile is the true one */

static const char usage[] = "usage: fleet [-n PAIRS] [-i]\n-i: also of intervals\n";
static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
#define QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static unsigned int pairs = 500;

/* Hosts with their own base, tail share, tail length and load, of 100,000 events each. */
static const struct synthetic fleet = {
	.tail = 0.01,
	.rate = 100000,
	.run_location = 0.3,
	.run_tail = 0.7,
	.run_rate = 0.7,
	.run_length = 0.5,
};

struct scenario {
	const char *name;
	unsigned int off, on; /* hosts */
	double longer; /* multiplies ON's latencies; 1: there is nothing to find */
	double spread; /* multiplies the differences between the hosts of ON */
	bool paired; /* the same hosts in both groups */
	double limit; /* upper bound of the figure, lower bound if `longer` is not 1; 0: none */
};

static const struct scenario scenarios[] = {
	{ "wrong.hosts.4", 4, 4, 1, 1, false, 5 },
	{ "wrong.hosts.5", 5, 5, 1, 1, false, 5 },
	{ "wrong.hosts.10", 10, 10, 1, 1, false, 5 },
	{ "wrong.hosts.30", 30, 30, 1, 1, false, 5 },
	{ "wrong.hosts.5_against_30", 5, 30, 1, 1, false, 5 },
	{ "wrong.hosts.30_against_5", 30, 5, 1, 1, false, 5 },
	{ "wrong.same_hosts.10", 10, 10, 1, 1, true, 5 },
	{ "found.half_longer.hosts.5", 5, 5, 1.5, 1, false, 0 },
	{ "found.half_longer.hosts.10", 10, 10, 1.5, 1, false, 0 },
	{ "found.half_longer.hosts.30", 30, 30, 1.5, 1, false, 0 },
	{ "found.twice_as_long.hosts.5", 5, 5, 2, 1, false, 0 },
	{ "found.twice_as_long.hosts.10", 10, 10, 2, 1, false, 0 },
	{ "found.twice_as_long.hosts.30", 30, 30, 2, 1, false, 80 },
	{ "found.half_longer.same_hosts.10", 10, 10, 1.5, 1, true, 80 },
};

static struct sparse made[2][MOST_HOSTS];

static void die(const char *why)
{
	fprintf(stderr, "fleet: %s\n", why);
	exit(1);
}

static struct synthetic varying(double spread)
{
	struct synthetic model = fleet;

	model.run_location *= spread;
	model.run_tail *= spread;
	model.run_length *= spread;
	return model;
}

/* A host whose latencies are multiplied: its slots are moved by the logarithm. */
static void make_host(const struct synthetic *model, struct synthetic_run *host, bool is_new,
		      double longer, struct sparse *sparse)
{
	struct synthetic_run run;
	struct lat_hist hist = { 0 }, moved = { 0 };

	if (is_new)
		synthetic__start(model, host);
	run = *host;
	synthetic__interval(model, &run, &hist);
	for (uint32_t i = 0; i < HIST_OVERFLOW_SLOT; i++) {
		double middle = ((double)hist_slot_low_ns(i) + (double)hist_slot_low_ns(i + 1)) / 2;
		uint32_t slot = longer > 1 ? hist_slot((uint64_t)(middle * longer)) : i;

		moved.slots[slot] += hist.slots[i];
		if (hist.slots[i])
			moved.max_ns = hist_slot_low_ns(slot + 1) - 1;
	}
	if (sparse__set(sparse, &moved))
		die("out of memory");
}

static bool finds(const struct scenario *scenario)
{
	const struct hosts_rules rules = { .confidence = 0.95,
					   .quantiles = quantiles,
					   .nr_quantiles = QUANTILES,
					   .verdicts_only = true };
	struct judged judged[QUANTILES];
	const struct sparse *off[2 * MOST_HOSTS] = { 0 }, *on[2 * MOST_HOSTS] = { 0 };
	const struct hosts_latency latency = { { off, on } };
	struct synthetic models[2] = { fleet, varying(scenario->spread) };
	struct synthetic_run hosts[MOST_HOSTS];
	unsigned char in[2 * MOST_HOSTS];
	size_t nr = 0;
	bool found = false;

	for (unsigned int i = 0; i < scenario->off; i++) {
		make_host(&models[0], &hosts[i], true, 1, &made[0][i]);
		off[nr] = &made[0][i];
		in[nr++] = 1;
	}
	for (unsigned int i = 0; i < scenario->on; i++) {
		size_t at = scenario->paired ? i : nr++;

		make_host(&models[1], &hosts[i], !scenario->paired, scenario->longer, &made[1][i]);
		on[at] = &made[1][i];
		in[at] = scenario->paired ? 3 : 2;
	}
	if (hosts__compare(&rules, in, nr, &latency, 1, judged) < 0)
		die("out of memory");
	for (size_t i = 0; i < QUANTILES; i++)
		found |= judged[i].verdict != JUDGE_NO_DIFFERENCE;
	return scenario->longer > 1 ? judged[2].verdict == JUDGE_WORSE : found;
}

static void run_scenario(const struct scenario *scenario)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < pairs; i++)
		found += finds(scenario);
	synthetic__print_share(scenario->name, (double)found / pairs, pairs,
			       scenario->longer > 1 ? "least" : "limit", scenario->limit);
}

/* The quantiles of very many hosts. */
static void find_reference(double reference[QUANTILES])
{
	struct lat_hist sum = { 0 };

	for (unsigned int i = 0; i < REFERENCE_HOSTS; i++) {
		struct synthetic_run host;

		make_host(&fleet, &host, true, 1, &made[0][0]);
		sparse__add_to(&sum, &made[0][0]);
	}
	for (size_t i = 0; i < QUANTILES; i++)
		reference[i] = (double)hist__quantile_ns(&sum, quantiles[i]);
}

/* How often the interval of a quantile of so many hosts excludes the true one. */
static void run_intervals(unsigned int hosts, const double reference[QUANTILES])
{
	unsigned int outside[QUANTILES] = { 0 };
	const struct sparse *hists[MOST_HOSTS];
	struct synthetic_run host;
	char name[64];

	for (unsigned int i = 0; i < pairs; i++) {
		for (unsigned int j = 0; j < hosts; j++) {
			make_host(&fleet, &host, true, 1, &made[0][j]);
			hists[j] = &made[0][j];
		}
		for (size_t j = 0; j < QUANTILES; j++) {
			struct hosts_interval interval =
				hosts__interval(hists, hosts, quantiles[j], 0.95);

			outside[j] +=
				!(interval.low <= reference[j] && reference[j] <= interval.high);
		}
	}
	for (size_t i = 0; i < QUANTILES; i++) {
		snprintf(name, sizeof(name), "outside.p%g.hosts.%u", quantiles[i] * 100, hosts);
		synthetic__print_share(name, (double)outside[i] / pairs, pairs, "limit", 0);
	}
}

int main(int argc, char **argv)
{
	static const unsigned int interval_hosts[] = { 5, 10, 30 };
	double reference[QUANTILES];
	bool intervals = false;

	for (int option; (option = getopt(argc, argv, "n:i")) != -1;) {
		intervals |= option == 'i';
		if (option != 'i')
			pairs = option == 'n' ? (unsigned int)atoi(optarg) : 0;
	}
	if (!pairs) {
		fputs(usage, stderr);
		return 2;
	}
	synthetic__seed(1);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		run_scenario(&scenarios[i]);
	if (!intervals)
		return 0;
	find_reference(reference);
	for (size_t i = 0; i < sizeof(interval_hosts) / sizeof(interval_hosts[0]); i++)
		run_intervals(interval_hosts[i], reference);
	return 0;
}
