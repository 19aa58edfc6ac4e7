// SPDX-License-Identifier: BSD-2-Clause
#include "judge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/units.h>

#include "inference.h"

/*
 * Events needed beyond a quantile. With fewer it is nearly the maximum, which grows with the number
 * of events and not only with the latency.
 */
#define LEAST_BEYOND 10
#define BATCH_PART 5 /* a batch needs a fifth of the events that all need together */
/*
 * Events needed in the tail of each group, both as it is and as it would be if both had the same
 * share; and at least one per run. With fewer, an empty tail does not show anything about the
 * share.
 */
#define LEAST_TAIL 5
#define LEAST_MEAN 10 /* events in a run */

const char *const judge__groups[2] = { "OFF", "ON" };

static const double quantiles[SUMMARY_QUANTILES] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };

/* Summary of one latency in one group. */
struct group_summary {
	const struct judge_group *group;
	struct lat_hist pool;
	uint64_t events;
	uint64_t least_events; /* the lowest of an observation */
	double nr[JUDGE_LATENCIES]; /* most by which an observation's mean logarithm is too small */
	/* upper bound of how much the logarithm of an observation's mean is too small */
	double mean_bias;
	double centre[JUDGE_LATENCIES]; /* logarithms */
	double variance[JUDGE_LATENCIES];
	double value[JUDGE_LATENCIES]; /* as printed */
};

static bool is_quantile(unsigned int statistic)
{
	return statistic >= JUDGE_QUANTILE && statistic < JUDGE_QUANTILE + SUMMARY_QUANTILES;
}

bool judge__is_rate(unsigned int statistic)
{
	return statistic == JUDGE_RATE || statistic == JUDGE_TAIL_RATE;
}

const char *judge__name(unsigned int statistic)
{
	if (statistic == JUDGE_TAIL)
		return "tail";
	if (statistic == JUDGE_SHARE)
		return "share";
	if (judge__is_rate(statistic))
		return statistic == JUDGE_RATE ? "rate" : "tail/s";
	return statistic == JUDGE_MEAN ? "mean" : summary__labels[statistic - JUDGE_QUANTILE];
}

int judge__find(const char *name)
{
	for (unsigned int i = 0; i <= JUDGE_SHARE; i++) {
		if (!strcmp(judge__name(i), name))
			return (int)i;
	}
	return -EINVAL;
}

const char *judge__word(enum judge_verdict verdict)
{
	static const char *const words[] = {
		"no difference shown", "worse", "better", "more", "fewer", "less"
	};

	return words[verdict];
}

const char *judge__verdict(const struct judged *judged)
{
	return judged->tested ? judge__word(judged->verdict) : "cannot tell";
}

/*
 * Half an event is added: the logarithm of an empty tail is then finite, and that of a Poisson
 * count nearly unbiased from one event on (J. B. S. Haldane, Ann. Hum. Genet. 20 (1956) 309-311).
 */
void judge__logarithms(const struct lat_hist *hist, double logs[JUDGE_LATENCIES])
{
	double events = (double)hist__count(hist);

	logs[JUDGE_TAIL] = log(((double)hist->tail + 0.5) / (events + 1));
	logs[JUDGE_MEAN] = log(fmax(hist__mean_ns(hist), 1));
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		logs[JUDGE_QUANTILE + i] =
			log(fmax((double)hist__quantile_ns(hist, quantiles[i]), 1));
}

static uint64_t least_events(unsigned int statistic)
{
	if (statistic == JUDGE_MEAN)
		return LEAST_MEAN;
	return (uint64_t)(LEAST_BEYOND / (1 - quantiles[statistic - JUDGE_QUANTILE]) + 0.5);
}

/*
 * Is this an observation of the statistic? Not a batch of hardly any events, as when the machine is
 * nearly idle: there the half event alone would make a tail. A run always is; lacks_events()
 * refuses runs with too few. `share`: of the tail in both groups together.
 */
static bool observes(const struct judge_rules *rules, const struct observation *observation,
		     unsigned int statistic, double share)
{
	if (!rules->batches)
		return true;
	if (statistic == JUDGE_TAIL)
		return (double)observation->events * share >= 0.5;
	return observation->events >= least_events(statistic) / BATCH_PART;
}

/*
 * Adds to mean and sum of squares, one value at a time (B. P. Welford, Technometrics 4 (1962)
 * 419-420).
 */
static void add_log(struct group_summary *to, unsigned int statistic, double log)
{
	double off = log - to->centre[statistic];

	to->nr[statistic]++;
	to->centre[statistic] += off / to->nr[statistic];
	to->variance[statistic] += off * (log - to->centre[statistic]);
}

/*
 * Sectioning (S. Asmussen, P. W. Glynn, Stochastic Simulation, Springer 2007, III.5): batches are
 * too short for a good quantile. So the centre is that of all events, and batches show only how
 * much it varies.
 */
static void centre_on_pool(struct group_summary *to)
{
	double logs[JUDGE_LATENCIES];

	judge__logarithms(&to->pool, logs);
	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++) {
		double off = logs[i] - to->centre[i];

		to->variance[i] += to->nr[i] * off * off;
		to->centre[i] = logs[i];
	}
}

/* Sums of the variances that independent events would have. */
struct floors {
	double tail, mean;
};

/*
 * A variance from a few observations may be small by chance, and is 0 if no observation has a tail.
 * It cannot be less than that of independent events.
 */
static void apply_floors(struct group_summary *to, const struct floors *floors)
{
	double nr_tail = fmax(to->nr[JUDGE_TAIL], 1), nr_mean = fmax(to->nr[JUDGE_MEAN], 1);

	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++)
		to->variance[i] = to->nr[i] > 1 ? to->variance[i] / (to->nr[i] - 1) : 0;
	to->variance[JUDGE_TAIL] = fmax(to->variance[JUDGE_TAIL], floors->tail / nr_tail);
	to->variance[JUDGE_MEAN] = fmax(to->variance[JUDGE_MEAN], floors->mean / nr_mean);
	to->mean_bias = floors->mean / nr_mean;
}

static void show_values(const struct judge_rules *rules, struct group_summary *to)
{
	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++)
		to->value[i] = to->events ? exp(to->centre[i]) : NAN;
	/*
	 * If no events or all of them are in the tail, shows the share without the half event,
	 * which only the logarithm needs.
	 */
	if (to->events && (rules->batches || !to->pool.tail || to->pool.tail == to->events))
		to->value[JUDGE_TAIL] = (double)to->pool.tail / (double)to->events;
}

static void add_observation(const struct judge_rules *rules, const struct observation *observation,
			    double share, struct group_summary *to, struct floors *floors)
{
	double logs[JUDGE_LATENCIES], spread = observation__variation(observation);
	struct lat_hist hist = { 0 };

	sparse__add_to(&hist, &observation->hist);
	judge__logarithms(&hist, logs);
	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++) {
		if (observes(rules, observation, i, share))
			add_log(to, i, logs[i]);
	}
	if (observes(rules, observation, JUDGE_TAIL, share))
		floors->tail += 1 / ((double)observation->hist.tail + 0.5);
	if (observes(rules, observation, JUDGE_MEAN, share))
		floors->mean += spread * spread / (double)observation->events;
	hist__add(&to->pool, &hist);
	to->events += observation->events;
	if (to->least_events > observation->events)
		to->least_events = observation->events;
}

static void summarise(const struct judge_rules *rules, const struct judge_group *group,
		      double share, struct group_summary *to)
{
	struct floors floors = { 0 };

	memset(to, 0, sizeof(*to));
	to->group = group;
	to->least_events = group->nr ? UINT64_MAX : 0;
	for (size_t i = 0; i < group->nr; i++)
		add_observation(rules, &group->observations[i], share, to, &floors);
	if (rules->batches)
		centre_on_pool(to);
	apply_floors(to, &floors);
	show_values(rules, to);
}

/*
 * The lacks_...() functions return whether something is missing for a verdict, and describe it in
 * `why`.
 */
static bool lacks_windows(const struct judge_rules *rules, const struct judge_group *group,
			  const char *name, char why[RUN_TEXT])
{
	if (group->nr_windows >= JUDGE_LEAST_OBSERVATIONS)
		return false;
	if (rules->batches)
		snprintf(why, RUN_TEXT, "too few intervals on %s: a recording needs %d", name,
			 OBSERVATION_LEAST_INTERVALS);
	else
		snprintf(why, RUN_TEXT, "too few runs on %s: %zu, %d are needed", name,
			 group->nr_windows, JUDGE_LEAST_OBSERVATIONS);
	return true;
}

/* A window without events is no observation of a latency. */
static bool lacks_observations(const struct judge_rules *rules, const struct group_summary *summary,
			       const char *name, char why[RUN_TEXT])
{
	if (!summary->events)
		snprintf(why, RUN_TEXT, "no events on %s", name);
	else if (lacks_windows(rules, summary->group, name, why))
		return true;
	else if (summary->group->nr >= JUDGE_LEAST_OBSERVATIONS)
		return false;
	else
		snprintf(why, RUN_TEXT, "too few %s on %s have events: %zu of %zu, %d are needed",
			 rules->batches ? "batches of intervals" : "runs", name, summary->group->nr,
			 summary->group->nr_windows, JUDGE_LEAST_OBSERVATIONS);
	return true;
}

/* The group has events, but too few batches with enough of them: see observes(). */
static bool lacks_batches(const struct group_summary groups[2], unsigned int statistic,
			  char why[RUN_TEXT])
{
	for (unsigned int i = 0; i < 2; i++) {
		if (groups[i].nr[statistic] >= JUDGE_LEAST_OBSERVATIONS)
			continue;
		snprintf(why, RUN_TEXT,
			 "too few batches of intervals on %s have enough events: %.0f of %zu, "
			 "%d are needed",
			 judge__groups[i], groups[i].nr[statistic], groups[i].group->nr_windows,
			 JUDGE_LEAST_OBSERVATIONS);
		return true;
	}
	return false;
}

/* Share of the tail among the events of both groups; 0 without events. */
static double tail_share(const struct judge_group *const groups[2])
{
	uint64_t events = 0, tail = 0;

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i]->nr; j++) {
			events += groups[i]->observations[j].events;
			tail += groups[i]->observations[j].hist.tail;
		}
	}
	return events ? (double)tail / (double)events : 0;
}

static bool lacks_tail(const struct judge_rules *rules, const struct group_summary groups[2],
		       char why[RUN_TEXT])
{
	uint64_t tail = groups[0].pool.tail + groups[1].pool.tail;
	double share = (double)tail / (double)(groups[0].events + groups[1].events);

	if (!tail) {
		snprintf(why, RUN_TEXT, "no tail in either group");
		return true;
	}
	for (unsigned int i = 0; i < 2; i++) {
		double expected = share * (double)groups[i].events;
		double most = fmax(expected, (double)groups[i].pool.tail);

		if (most >= LEAST_TAIL && (rules->batches || most >= (double)groups[i].group->nr))
			continue;
		snprintf(why, RUN_TEXT,
			 "too few events: with the share of the other group, %s would have "
			 "%.2g in its tail",
			 judge__groups[i], expected);
		return true;
	}
	return false;
}

/* `all`: events needed in every run, or in all batches together. */
static bool lacks_events(const struct judge_rules *rules, const struct group_summary groups[2],
			 uint64_t all, char why[RUN_TEXT])
{
	char have[UNITS_TEXT], need[UNITS_TEXT];

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t events = rules->batches ? groups[i].events : groups[i].least_events;

		if (events >= all)
			continue;
		snprintf(why, RUN_TEXT, "too few events: %s has %s%s, %s are needed",
			 judge__groups[i], units__count(have, events),
			 rules->batches ? "" : " in a run", units__count(need, all));
		return true;
	}
	return false;
}

static bool cannot_tell(const struct judge_rules *rules, const struct group_summary groups[2],
			unsigned int statistic, char why[RUN_TEXT])
{
	if (!groups[0].events && !groups[1].events) {
		snprintf(why, RUN_TEXT, "no events in either group");
		return true;
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (lacks_observations(rules, &groups[i], judge__groups[i], why))
			return true;
	}
	if (statistic == JUDGE_TAIL ? lacks_tail(rules, groups, why)
				    : lacks_events(rules, groups, least_events(statistic), why))
		return true;
	return rules->batches && lacks_batches(groups, statistic, why);
}

/* The variance of the logarithm of a lognormal variable. */
double judge__between_runs(const struct judge_rules *rules, size_t runs)
{
	if (!rules->batches)
		return 0;
	return log1p(rules->run_spread * rules->run_spread) / (double)runs;
}

/*
 * A few large events dominate a mean. The group with fewer events may not have seen its largest
 * ones yet. To first order, the mean of a logarithm is too small by half its variance; the full
 * variance is allowed for.
 */
static double doubt(const struct group_summary groups[2], unsigned int statistic)
{
	return statistic == JUDGE_MEAN ? fabs(groups[1].mean_bias - groups[0].mean_bias) : 0;
}

const struct judged judge__none = { .off = NAN,
				    .on = NAN,
				    .ratio = NAN,
				    .low = NAN,
				    .high = NAN,
				    .p = NAN,
				    .adjusted = NAN,
				    .spread = NAN };

/* Both groups pooled: with 3 runs each, the spread of one group alone says little. */
static double spread_of(const struct judge_rules *rules, const struct contrast_group parts[2])
{
	double free[2] = { parts[0].observations - 1, parts[1].observations - 1 }, sum = 0;

	if (rules->batches)
		return NAN;
	for (unsigned int i = 0; i < 2; i++)
		sum += free[i] * (parts[i].variance + parts[i].known * parts[i].observations);
	return sqrt(sum / (free[0] + free[1]));
}

static void judge_one(const struct judge_rules *rules, const struct group_summary groups[2],
		      unsigned int statistic, struct judged *judged)
{
	struct contrast_group parts[2];
	struct contrast contrast;

	*judged = judge__none;
	judged->off = groups[0].value[statistic];
	judged->on = groups[1].value[statistic];
	if (groups[0].events && groups[1].events)
		judged->ratio = exp(groups[1].centre[statistic] - groups[0].centre[statistic]);
	if (cannot_tell(rules, groups, statistic, judged->why))
		return;
	for (unsigned int i = 0; i < 2; i++)
		parts[i] = (struct contrast_group){
			groups[i].centre[statistic], groups[i].variance[statistic],
			groups[i].nr[statistic], judge__between_runs(rules, groups[i].group->runs)
		};
	contrast = contrast__of(&parts[0], &parts[1], rules->confidence,
				log1p(rules->min_effect) + doubt(groups, statistic));
	judged->low = exp(contrast.low - doubt(groups, statistic));
	judged->high = exp(contrast.high + doubt(groups, statistic));
	judged->p = contrast.p;
	judged->spread = spread_of(rules, parts);
	judged->tested = rules->statistics & 1U << statistic;
}

static bool lacks_rate(const struct judge_rules *rules, const struct judge_group *const groups[2],
		       const struct rate rates[2], unsigned int statistic, char why[RUN_TEXT])
{
	uint64_t most = rates[0].events > rates[1].events ? rates[0].events : rates[1].events;

	if (lacks_windows(rules, groups[0], judge__groups[0], why) ||
	    lacks_windows(rules, groups[1], judge__groups[1], why))
		return true;
	if (!most)
		snprintf(why, RUN_TEXT, "%s",
			 statistic == JUDGE_RATE ? "no events in either group"
						 : "no tail in either group");
	else if (most < LEAST_TAIL)
		snprintf(why, RUN_TEXT,
			 "too few events: %" PRIu64 " and %" PRIu64 ", one group needs %d",
			 rates[0].events, rates[1].events, LEAST_TAIL);
	else
		return false;
	return true;
}

/* A group without events has a rate, too: it is 0, with a known upper bound. */
static void judge_rate(const struct judge_rules *rules, const struct judge_group *const groups[2],
		       unsigned int statistic, struct judged *judged)
{
	struct contrast_group parts[2];
	struct contrast contrast;
	struct rate rates[2];

	*judged = judge__none;
	for (unsigned int i = 0; i < 2; i++)
		rates[i] = rate__of(groups[i]->observations, groups[i]->nr, groups[i]->windows_ns,
				    groups[i]->nr_windows, statistic == JUDGE_TAIL_RATE,
				    rules->batches);
	judged->off = rates[0].per_second;
	judged->on = rates[1].per_second;
	if (rates[0].events && rates[1].events)
		judged->ratio = exp(rates[1].centre - rates[0].centre);
	if (lacks_rate(rules, groups, rates, statistic, judged->why))
		return;
	for (unsigned int i = 0; i < 2; i++)
		parts[i] = (struct contrast_group){
			rates[i].centre, rates[i].variance, (double)groups[i]->nr_windows,
			rates[i].known + judge__between_runs(rules, groups[i]->runs)
		};
	contrast = contrast__of(&parts[0], &parts[1], rules->confidence, log1p(rules->min_effect));
	judged->ratio = exp(contrast.difference);
	judged->low = exp(contrast.low);
	judged->high = exp(contrast.high);
	judged->p = contrast.p;
	judged->spread = spread_of(rules, parts);
	judged->tested = rules->statistics & 1U << statistic;
}

void judge__statistics(const struct judge_rules *rules, const struct judge_group *off,
		       const struct judge_group *on, struct judged statistics[JUDGE_STATISTICS])
{
	const struct judge_group *const groups[2] = { off, on };
	struct group_summary summaries[2];

	summarise(rules, off, tail_share(groups), &summaries[0]);
	summarise(rules, on, tail_share(groups), &summaries[1]);
	for (unsigned int i = 0; i < JUDGE_LATENCIES; i++)
		judge_one(rules, summaries, i, &statistics[i]);
	for (unsigned int i = JUDGE_LATENCIES; i < JUDGE_STATISTICS; i++)
		judge_rate(rules, groups, i, &statistics[i]);
}

/* Two values in the same slot, or in neighbouring ones, may be the same latency. */
static bool below_resolution(const struct judged *judged)
{
	uint32_t slot = hist_slot((uint64_t)fmax(judged->off, judged->on));

	if (slot == HIST_OVERFLOW_SLOT)
		return true;
	return fabs(judged->on - judged->off) <
	       (double)(hist_slot_low_ns(slot + 1) - hist_slot_low_ns(slot));
}

void judge__conclude(const struct judge_rules *rules, unsigned int statistic, size_t family,
		     struct judged *judged)
{
	double alpha = 1 - rules->confidence;

	if (judged->p > alpha)
		return;
	if (is_quantile(statistic) && below_resolution(judged))
		snprintf(judged->why, RUN_TEXT,
			 "the difference is less than the width of a histogram slot");
	else if (judged->adjusted > alpha)
		snprintf(judged->why, RUN_TEXT,
			 "significant by itself (p = %.2g), but not as one of %zu tests", judged->p,
			 family);
	else if (statistic == JUDGE_SHARE)
		judged->verdict = judged->ratio > 1 ? JUDGE_MORE : JUDGE_LESS;
	else if (judge__is_rate(statistic))
		judged->verdict = judged->ratio > 1 ? JUDGE_MORE : JUDGE_FEWER;
	else
		judged->verdict = judged->ratio > 1 ? JUDGE_WORSE : JUDGE_BETTER;
}

static size_t collect(struct judged *const family[], size_t nr, double *p)
{
	size_t tested = 0;

	for (size_t i = 0; i < nr * JUDGE_STATISTICS; i++) {
		const struct judged *judged = &family[i / JUDGE_STATISTICS][i % JUDGE_STATISTICS];

		if (judged->tested)
			p[tested++] = judged->p;
	}
	return tested;
}

ssize_t judge__verdicts(const struct judge_rules *rules, struct judged *const family[], size_t nr)
{
	size_t tested, at = 0;
	double *p;
	int err;

	p = calloc(nr * JUDGE_STATISTICS + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	tested = collect(family, nr, p);
	err = holm__adjust(p, tested);
	for (size_t i = 0; !err && i < nr * JUDGE_STATISTICS; i++) {
		struct judged *judged = &family[i / JUDGE_STATISTICS][i % JUDGE_STATISTICS];

		if (!judged->tested)
			continue;
		judged->adjusted = p[at++];
		judge__conclude(rules, (unsigned int)(i % JUDGE_STATISTICS), tested, judged);
	}
	free(p);
	return err ? err : (ssize_t)tested;
}
