// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures how often `compare` finds a difference where there is none, and how often it finds a
 * real one. Prints figure=NAME value=NUMBER unit=% [limit=MOST|least=LEAST] error=STANDARD_ERROR.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <store/rundb.h>
#include <stats/inference.h>
#include <stats/judge.h>
#include <stats/group.h>
#include <stats/sequential.h>

#include "alternative.h"
#include "synthetic.h"

#define MOST_OBSERVATIONS 512
#define RUN_INTERVALS 10
#define RESAMPLES 500
#define POOL_FAMILY 16
#define STATED_SPREAD 0.25

static const char usage[] =
	"usage: power [-n PAIRS] [-s SEED] [-r] [POOL [PROBE]]\n"
	"Without POOL of synthetic recordings; else of those in the directory POOL, which are of\n"
	"one steady workload, all of one probe if it is named. -r: also run alternative tests.\n";

static unsigned int pairs = 500;

/* Runs of 20,000 events, 1 % of them in the tail, with the differences of a quiet machine. */
static const struct synthetic quiet = {
	.tail = 0.01,
	.rate = 2000,
	.run_location = 0.08,
	.run_tail = 0.2,
	.run_rate = 0.2,
	.location = 0.05,
	.tail_drift = 0.3,
	.rate_drift = 0.2,
	.correlation = 0.6,
};

struct group_made {
	struct observation observations[MOST_OBSERVATIONS];
	unsigned int nr;
};

/* STATED: the true spread is given; BARE: none is assumed */
enum kind { RUNS, BATCHES, STATED, BARE, INTERVALS, WELCH };

struct scenario {
	const char *name;
	enum kind kind;
	unsigned int off, on; /* runs, or intervals of the one run */
	double factor; /* multiplies ON's tail; 1: there is nothing to find */
	bool same_runs; /* runs do not differ, and no difference is assumed */
	double run_tail; /* if not 0: another spread of the tail from run to run */
	double fewer; /* OFF has so many times fewer events */
	double limit; /* upper bound of the figure, lower bound if factor is not 1; 0: none */
};

static const struct scenario scenarios[] = {
	{ "wrong.runs.3", RUNS, 3, 3, 1, false, 0, 1, 5 },
	{ "wrong.runs.5", RUNS, 5, 5, 1, false, 0, 1, 5 },
	{ "wrong.runs.10", RUNS, 10, 10, 1, false, 0, 1, 5 },
	{ "wrong.runs.3_against_10", RUNS, 3, 10, 1, false, 0, 1, 5 },
	{ "wrong.runs.10.20_times_the_events", RUNS, 10, 10, 1, false, 0, 20, 5 },
	{ "wrong.one_run.10_intervals", BATCHES, 10, 10, 1, false, 0, 1, 5 },
	{ "wrong.one_run.20_intervals", BATCHES, 20, 20, 1, false, 0, 1, 5 },
	{ "wrong.one_run.60_intervals", BATCHES, 60, 60, 1, false, 0, 1, 5 },
	{ "wrong.one_run.20_against_200", BATCHES, 20, 200, 1, false, 0, 1, 5 },
	{ "wrong.one_run.60.20_times_the_events", BATCHES, 60, 60, 1, false, 0, 20, 5 },
	{ "wrong.one_run.60_intervals.spread_stated", STATED, 60, 60, 1, false, 0, 1, 5 },
	{ "wrong.batches_alone.10_intervals", BATCHES, 10, 10, 1, true, 0, 1, 5 },
	{ "wrong.batches_alone.20_intervals", BATCHES, 20, 20, 1, true, 0, 1, 5 },
	{ "wrong.batches_alone.60_intervals", BATCHES, 60, 60, 1, true, 0, 1, 5 },
	{ "wrong.batches_alone.200_intervals", BATCHES, 200, 200, 1, true, 0, 1, 5 },
	{ "found.double_tail.runs.3", RUNS, 3, 3, 2, false, 0, 1, 0 },
	{ "found.double_tail.runs.5", RUNS, 5, 5, 2, false, 0, 1, 0 },
	{ "found.double_tail.runs.10", RUNS, 10, 10, 2, false, 0, 1, 95 },
	{ "found.double_tail.runs.10.spread_40", RUNS, 10, 10, 2, false, 0.4, 1, 0 },
	{ "found.double_tail.one_run.60_intervals", BATCHES, 60, 60, 2, false, 0, 1, 0 },
	{ "found.tenfold_tail.one_run.60_intervals", BATCHES, 60, 60, 10, false, 0, 1, 0 },
	{ "found.double_tail.one_run.60_intervals.spread_stated", STATED, 60, 60, 2, false, 0, 1,
	  0 },
	{ "found.tenfold_tail.one_run.60_intervals.spread_stated", STATED, 60, 60, 10, false, 0, 1,
	  0 },
};

/* A whole experiment of ab, with its looks. */
struct trial {
	const char *name;
	unsigned int most; /* runs on each side */
	double effect; /* plan by it; 0: `most` runs */
	double factor, limit; /* as above */
};

static const struct trial trials[] = {
	{ "wrong.experiment.3", 3, 0, 1, 5 },
	{ "wrong.experiment.10", 10, 0, 1, 5 },
	{ "wrong.experiment.20", 20, 0, 1, 5 },
	{ "wrong.experiment.effect_20", 40, 0.2, 1, 5 },
	{ "wrong.experiment.effect_50", 40, 0.5, 1, 5 },
	{ "found.double_tail.experiment.10", 10, 0, 2, 90 },
	{ "found.half_more_tail.experiment.effect_50", 60, 0.5, 1.5, 80 },
};

static const struct scenario alternatives[] = {
	{ "alternative.bootstrap.runs.3", RUNS, 3, 3, 1, false, 0, 1, 0 },
	{ "alternative.bootstrap.runs.5", RUNS, 5, 5, 1, false, 0, 1, 0 },
	{ "alternative.bootstrap.runs.10", RUNS, 10, 10, 1, false, 0, 1, 0 },
	{ "alternative.welch.runs.3_against_3", WELCH, 3, 3, 1, false, 0, 1, 0 },
	{ "alternative.welch.runs.3_against_10", WELCH, 3, 10, 1, false, 0, 1, 0 },
	{ "alternative.nothing_assumed.one_run.20_intervals", BARE, 20, 20, 1, false, 0, 1, 0 },
	{ "alternative.nothing_assumed.one_run.60_intervals", BARE, 60, 60, 1, false, 0, 1, 0 },
	{ "alternative.block_bootstrap.10_intervals", INTERVALS, 10, 10, 1, true, 0, 1, 0 },
	{ "alternative.block_bootstrap.20_intervals", INTERVALS, 20, 20, 1, true, 0, 1, 0 },
	{ "alternative.block_bootstrap.60_intervals", INTERVALS, 60, 60, 1, true, 0, 1, 0 },
	{ "alternative.block_bootstrap.200_intervals", INTERVALS, 200, 200, 1, true, 0, 1, 0 },
};

static const unsigned int pool_runs[] = { 1, 3, 5, 10 }, experiment_runs[] = { 6, 10, 20 };

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void die(const char *why)
{
	fprintf(stderr, "power: %s\n", why);
	exit(1);
}

static void add_observation(struct group_made *group, const struct lat_hist *hist)
{
	struct observation *observation = &group->observations[group->nr];

	if (observation__take(observation, hist))
		die("out of memory");
	observation->window = group->nr++;
}

static void clear(struct group_made *group)
{
	while (group->nr)
		observation__clear(&group->observations[--group->nr]);
}

/* Divides the intervals of a run into so many observations of about the same length. */
static void make_run(const struct synthetic *model, unsigned int intervals,
		     unsigned int observations, struct group_made *group)
{
	struct synthetic_run run;
	unsigned int at = 0;

	synthetic__start(model, &run);
	for (unsigned int i = 0; i < observations; i++) {
		struct lat_hist hist = { 0 };

		for (; at < intervals * (i + 1) / observations; at++)
			synthetic__interval(model, &run, &hist);
		add_observation(group, &hist);
	}
}

static void make_group(const struct scenario *scenario, double factor, double fewer,
		       unsigned int nr, struct group_made *group)
{
	struct synthetic model = quiet;

	model.tail *= factor;
	model.rate /= fewer;
	if (scenario->same_runs)
		model.run_location = model.run_tail = model.run_rate = 0;
	if (scenario->run_tail > 0)
		model.run_tail = scenario->run_tail;
	clear(group);
	if (scenario->kind == BATCHES || scenario->kind == BARE || scenario->kind == STATED)
		make_run(&model, nr, observation__batches(nr), group);
	else if (scenario->kind == INTERVALS)
		make_run(&model, nr, nr, group);
	else
		for (unsigned int i = 0; i < nr; i++)
			make_run(&model, RUN_INTERVALS, 1, group);
}

static double assumed_spread(const struct scenario *scenario)
{
	if (scenario->same_runs || scenario->kind == BARE)
		return 0;
	return scenario->kind == STATED ? STATED_SPREAD : JUDGE_RUN_SPREAD;
}

static struct judge_rules rules_of(const struct scenario *scenario)
{
	return (struct judge_rules){
		.confidence = 0.95,
		.statistics = (1U << JUDGE_STATISTICS) - 1,
		.batches = scenario->kind != RUNS,
		.run_spread = assumed_spread(scenario),
	};
}

/* Synthetic observations have equal length. */
static const uint64_t *windows(void)
{
	static uint64_t ns[MOST_OBSERVATIONS];

	for (unsigned int i = 0; i < MOST_OBSERVATIONS; i++)
		ns[i] = 1000000000;
	return ns;
}

/*
 * Returns whether any statistic has a verdict or, if there is something to find, whether the tail
 * is worse.
 */
static bool ours(const struct scenario *scenario, const struct group_made *off,
		 const struct group_made *on)
{
	struct judge_rules rules = rules_of(scenario);
	struct judge_group groups[2] = {
		{ off->observations, off->nr, rules.batches ? 1 : off->nr, windows(), off->nr },
		{ on->observations, on->nr, rules.batches ? 1 : on->nr, windows(), on->nr }
	};
	/* Rates differ where one group is made with fewer events. */
	unsigned int alike = scenario->fewer > 1 ? JUDGE_LATENCIES : JUDGE_STATISTICS;
	struct judged statistics[JUDGE_STATISTICS], *family[] = { statistics };
	bool found = false;

	judge__statistics(&rules, &groups[0], &groups[1], statistics);
	if (judge__verdicts(&rules, family, 1) < 0)
		die("out of memory");
	for (unsigned int i = 0; i < alike; i++)
		found |= statistics[i].verdict != JUDGE_NO_DIFFERENCE;
	return scenario->factor > 1 ? statistics[JUDGE_TAIL].verdict == JUDGE_WORSE : found;
}

/* The most runs that a test needs, as ab plans. */
static size_t needed(const struct judged *const statistics, size_t nr, double effect, double level)
{
	size_t tests = 0, most = 0;

	for (size_t i = 0; i < nr; i++)
		tests += statistics[i].tested;
	for (size_t i = 0; i < nr; i++) {
		if (statistics[i].tested && !isnan(statistics[i].spread)) {
			size_t runs = sequential__needed(statistics[i].spread, effect,
							 level / (double)tests);

			most = runs > most ? runs : most;
		}
	}
	return most;
}

/* Judges the first runs of both groups; returns whether any statistic has a verdict. */
static bool judge_first(const struct group_made *off, const struct group_made *on, size_t runs,
			double level, struct judged statistics[JUDGE_STATISTICS])
{
	struct judge_rules rules = rules_of(&(struct scenario){ .kind = RUNS });
	struct judge_group groups[2] = { { off->observations, runs, runs, windows(), runs },
					 { on->observations, runs, runs, windows(), runs } };
	struct judged *family[] = { statistics };
	bool found = false;

	rules.confidence = 1 - level;
	rules.statistics = 1U << JUDGE_TAIL | 1U << JUDGE_QUANTILE | 1U << (JUDGE_QUANTILE + 2);
	judge__statistics(&rules, &groups[0], &groups[1], statistics);
	if (judge__verdicts(&rules, family, 1) < 0)
		die("out of memory");
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		found |= statistics[i].verdict != JUDGE_NO_DIFFERENCE;
	return found;
}

/* One that ends early with a verdict counts as having it. */
static bool has_verdict(const struct trial *trial, const struct group_made *off,
			const struct group_made *on)
{
	struct sequential plan = {
		.planned = trial->most, .most = trial->most, .effect = trial->effect, .alpha = 0.05
	};
	struct judged statistics[JUDGE_STATISTICS];

	for (size_t runs = 1;; runs++) {
		double level = plan.alpha - plan.spent;
		bool found;

		if (sequential__plans_again(&plan, runs)) {
			judge_first(off, on, runs, level, statistics);
			sequential__plan(&plan, runs,
					 needed(statistics, JUDGE_STATISTICS, plan.effect, level));
		}
		if (!sequential__is_look(&plan, runs))
			continue;
		level = sequential__level(&plan, runs);
		found = judge_first(off, on, runs, level, statistics);
		if (found || runs >= plan.planned)
			return trial->factor > 1 ? statistics[JUDGE_TAIL].verdict == JUDGE_WORSE
						 : found;
		plan.spent += level;
	}
}

static void run_trial(const struct trial *trial)
{
	static struct group_made off, on;
	struct scenario runs = { .kind = RUNS };
	unsigned int found = 0;

	for (unsigned int i = 0; i < pairs; i++) {
		make_group(&runs, 1, 1, trial->most, &off);
		make_group(&runs, trial->factor, 1, trial->most, &on);
		found += has_verdict(trial, &off, &on);
	}
	synthetic__print_share(trial->name, (double)found / pairs, pairs,
			       trial->factor > 1 ? "least" : "limit", trial->limit);
	clear(&off);
	clear(&on);
}

static bool theirs(const struct scenario *scenario, const struct group_made *off,
		   const struct group_made *on)
{
	struct alternative_group groups[2] = { { off->observations, off->nr, 1 },
					       { on->observations, on->nr, 1 } };
	double p[JUDGE_LATENCIES];

	for (unsigned int i = 0; scenario->kind == INTERVALS && i < 2; i++)
		groups[i].block = alternative__block_length(groups[i].observations, groups[i].nr);
	if (scenario->kind == WELCH)
		alternative__welch(&groups[0], &groups[1], p);
	else
		alternative__bootstrap(&groups[0], &groups[1], RESAMPLES, p);
	/* Leave out the last quantile: compare would have too few events for it. */
	p[JUDGE_MEAN - 1] = 1;
	if (holm__adjust(p, JUDGE_LATENCIES))
		die("out of memory");
	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++) {
		if (p[i] <= 0.05)
			return true;
	}
	return false;
}

static void run_scenario(const struct scenario *scenario, bool alternative)
{
	static struct group_made off, on;
	unsigned int found = 0;

	for (unsigned int i = 0; i < pairs; i++) {
		make_group(scenario, 1, scenario->fewer, scenario->off, &off);
		make_group(scenario, scenario->factor, 1, scenario->on, &on);
		found += alternative && scenario->kind != BARE ? theirs(scenario, &off, &on)
							       : ours(scenario, &off, &on);
	}
	synthetic__print_share(scenario->name, (double)found / pairs, pairs,
			       scenario->factor > 1 ? "least" : "limit", scenario->limit);
	clear(&off);
	clear(&on);
}

/* Observations of some recordings of the pool, which owns them, and their lengths. */
static unsigned int pick(const struct group *pool, const struct group_series *series,
			 const unsigned int *recordings, unsigned int nr,
			 struct observation *observations, uint64_t *windows_ns)
{
	unsigned int picked = 0;

	for (size_t i = 0; i < series->nr; i++) {
		for (unsigned int j = 0; j < nr && picked < MOST_OBSERVATIONS; j++) {
			if (series->observations[i].recording != recordings[j])
				continue;
			observations[picked] = series->observations[i];
			windows_ns[picked] = pool->windows_ns[observations[picked].window];
			observations[picked].window = picked;
			picked++;
		}
	}
	return picked;
}

static void shuffle(unsigned int *order, unsigned int nr)
{
	for (unsigned int i = nr; i > 1; i--) {
		unsigned int j = synthetic__below(i), kept = order[i - 1];

		order[i - 1] = order[j];
		order[j] = kept;
	}
}

/* All metrics are one family, as in compare. */
static bool pool_pair(const struct group *pool, const unsigned int *order, unsigned int runs,
		      bool batches, double confidence)
{
	static struct observation observations[2][MOST_OBSERVATIONS];
	static uint64_t windows_ns[2][MOST_OBSERVATIONS];
	struct judged statistics[POOL_FAMILY][JUDGE_STATISTICS], *family[POOL_FAMILY] = { 0 };
	struct judge_rules rules = rules_of(&(struct scenario){ .kind = batches ? BATCHES : RUNS });
	unsigned int nr =
		pool->nr_series < POOL_FAMILY ? (unsigned int)pool->nr_series : POOL_FAMILY;

	rules.confidence = confidence;
	for (unsigned int i = 0; i < nr; i++) {
		struct judge_group groups[2];

		for (unsigned int j = 0; j < 2; j++) {
			unsigned int picked = pick(pool, pool->series[i], order + j * runs, runs,
						   observations[j], windows_ns[j]);

			groups[j] = (struct judge_group){ observations[j], picked, runs,
							  windows_ns[j], picked };
		}
		family[i] = statistics[i];
		judge__statistics(&rules, &groups[0], &groups[1], statistics[i]);
	}
	if (judge__verdicts(&rules, family, nr) < 0)
		die("out of memory");
	for (unsigned int i = 0; i < nr * JUDGE_STATISTICS; i++) {
		if (statistics[i / JUDGE_STATISTICS][i % JUDGE_STATISTICS].verdict !=
		    JUDGE_NO_DIFFERENCE)
			return true;
	}
	return false;
}

/* An experiment with recordings of the pool, up to `runs` of each side. */
static bool pool_experiment(const struct group *pool, const unsigned int *order, unsigned int runs)
{
	struct sequential plan = { .planned = runs, .most = runs, .alpha = 0.05 };
	unsigned int both[2 * MOST_OBSERVATIONS];

	for (unsigned int i = 1;; i++) {
		double level;

		if (!sequential__is_look(&plan, i))
			continue;
		level = sequential__level(&plan, i);
		memcpy(both, order, i * sizeof(*both));
		memcpy(both + i, order + runs, i * sizeof(*both));
		if (pool_pair(pool, both, i, false, 1 - level))
			return true;
		if (i >= runs)
			return false;
		plan.spent += level;
	}
}

static void read_pool(const char *path, const char *probe, bool batches, struct group *pool)
{
	int err;

	err = group__find(pool, path);
	if (!err)
		err = group__read(pool, probe, 0, batches);
	if (err)
		die(rundb__explain(err));
}

static void run_pool(const char *path, const char *probe, unsigned int runs, bool experiment)
{
	unsigned int order[MOST_OBSERVATIONS], found = 0;
	struct group pool;
	char name[128];

	snprintf(name, sizeof(name), "wrong.recorded.%s.%s.%u", probe ? probe : "all",
		 experiment ? "experiment" : "runs", runs);
	read_pool(path, probe, runs == 1, &pool);
	if (pool.nr > MOST_OBSERVATIONS || pool.nr < 2 * runs)
		die("too many recordings in the pool, or too few");
	for (unsigned int i = 0; i < pool.nr; i++)
		order[i] = i;
	for (unsigned int i = 0; i < pairs; i++) {
		shuffle(order, (unsigned int)pool.nr);
		found += experiment ? pool_experiment(&pool, order, runs)
				    : pool_pair(&pool, order, runs, runs == 1, 0.95);
	}
	synthetic__print_share(name, (double)found / pairs, pairs, "limit", 5);
	group__clear(&pool);
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	bool alternative = false;
	int option;

	while ((option = getopt(argc, argv, "n:s:r")) != -1) {
		if (option == 'n')
			pairs = (unsigned int)atoi(optarg);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (option == 'r')
			alternative = true;
		else
			pairs = 0;
	}
	if (!pairs || argc > optind + 2) {
		fputs(usage, stderr);
		return 2;
	}
	printf("# seed %llu, %u pairs\n", (unsigned long long)seed, pairs);
	synthetic__seed(seed);
	if (argc > optind) {
		for (size_t i = 0; i < COUNT_OF(pool_runs); i++)
			run_pool(argv[optind], argv[optind + 1], pool_runs[i], false);
		for (size_t i = 0; i < COUNT_OF(experiment_runs); i++)
			run_pool(argv[optind], argv[optind + 1], experiment_runs[i], true);
		return 0;
	}
	for (size_t i = 0; i < COUNT_OF(scenarios); i++)
		run_scenario(&scenarios[i], false);
	for (size_t i = 0; i < COUNT_OF(trials); i++)
		run_trial(&trials[i]);
	for (size_t i = 0; alternative && i < COUNT_OF(alternatives); i++)
		run_scenario(&alternatives[i], true);
	return 0;
}
