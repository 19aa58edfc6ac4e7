// SPDX-License-Identifier: BSD-2-Clause
#include "hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/units.h>

#include "inference.h"

#define LEAST_BEYOND \
	10 /* events of a group beyond a quantile; with fewer it is nearly the maximum */
#define WIDEST 20 /* logarithm of the largest ratio that an interval ends at */
#define STEPS 32 /* latencies in an octave at which events are counted */
#define FINEST 0.002 /* logarithm to which an end is found; a slot is 0.03 */

/* ---- events beyond a latency ---- */

/* Where a latency is: its slot, and the share of the slot below it. */
struct place {
	uint32_t slot;
	double part;
};

static struct place place_of(double ns)
{
	struct place place = { HIST_OVERFLOW_SLOT, 0 };
	double low, high;

	if (ns < 0)
		ns = 0;
	if (ns >= (double)HIST_LIMIT_NS)
		return place;
	place.slot = hist_slot((uint64_t)ns);
	low = (double)hist_slot_low_ns(place.slot);
	high = (double)hist_slot_low_ns(place.slot + 1);
	place.part = fmin(fmax((ns - low) / (high - low), 0), 1);
	return place;
}

/* Events of a slot are spread evenly over it. */
static double beyond(const struct sparse *hist, double ns)
{
	struct place place = place_of(ns);
	double sum = 0;

	for (uint64_t i = hist->nr; i-- > 0 && hist->slots[i].slot >= place.slot;) {
		double count = (double)hist->slots[i].count;

		sum += hist->slots[i].slot == place.slot ? (1 - place.part) * count : count;
	}
	return sum;
}

/* ---- assignments of hosts to groups ---- */

/*
 * One row for each assignment, one byte for each host: the group it is put into, or for a host with
 * data in both groups whether these are exchanged. The first row is the true one.
 */
struct assignments {
	const unsigned char *in; /* as of hosts__compare() */
	unsigned char *rows;
	size_t hosts, nr;
	double least_p; /* the lowest p that they can give */
	/* While they are made: */
	unsigned char *order; /* groups of the hosts with data in one group, in turn */
	size_t singles, in_on, pairs;
};

static bool is_paired(unsigned char in)
{
	return in == 3;
}

/* Steps to the next order of some bytes, 0 and 1; false after the last one. */
static bool next_order(unsigned char *bytes, size_t nr)
{
	size_t ones = 0, at = nr;

	while (at > 1 && !(bytes[at - 1] && !bytes[at - 2]))
		ones += bytes[--at];
	if (at < 2)
		return false;
	bytes[at - 2] = 1;
	bytes[at - 1] = 0;
	for (size_t i = at; i < nr; i++) /* it was in falling order */
		bytes[i] = i >= nr - ones;
	return true;
}

/* How many assignments there are, or more than `most`. */
static double count_ways(const struct assignments *to, double most)
{
	size_t off = to->singles - to->in_on, fewer = to->in_on < off ? to->in_on : off;
	double count = 1;

	for (size_t i = 0; i < fewer && count <= most; i++)
		count = count * (double)(to->singles - i) / (double)(i + 1);
	for (size_t i = 0; i < to->pairs && count <= most; i++)
		count *= 2;
	return round(count);
}

static void set_row(const struct assignments *to, unsigned char *row, uint64_t swaps)
{
	size_t single = 0, pair = 0;

	for (size_t i = 0; i < to->hosts; i++)
		row[i] = is_paired(to->in[i]) ? swaps >> pair++ & 1 : to->order[single++];
}

static void enumerate(struct assignments *to)
{
	for (size_t i = 0; i < to->singles; i++)
		to->order[i] = i >= to->singles - to->in_on;
	do {
		for (uint64_t swaps = 0; swaps < 1ULL << to->pairs; swaps++) {
			unsigned char *row = to->rows + to->nr * to->hosts;

			set_row(to, row, swaps);
			to->nr += memcmp(row, to->rows, to->hosts) != 0;
		}
	} while (next_order(to->order, to->singles));
}

/* By chance, but the same in every run. */
static void draw(struct assignments *to)
{
	unsigned short state[3] = { 0x330e, 0x1234, 0xabcd };

	for (; to->nr < HOSTS_ASSIGNMENTS; to->nr++) {
		unsigned char *row = to->rows + to->nr * to->hosts;

		for (size_t i = to->singles; i > 1; i--) {
			size_t j = (size_t)(erand48(state) * (double)i);
			unsigned char kept = to->order[i - 1];

			to->order[i - 1] = to->order[j];
			to->order[j] = kept;
		}
		set_row(to, row, 0);
		for (size_t i = 0; i < to->hosts; i++)
			if (is_paired(to->in[i]))
				row[i] = erand48(state) < 0.5;
	}
}

/* If both groups have as many hosts, each assignment has a mirror image, which is as extreme. */
static bool is_symmetric(const struct assignments *to)
{
	return 2 * to->in_on == to->singles;
}

static int make_assignments(struct assignments *to, const unsigned char *in, size_t hosts)
{
	double ways;

	*to = (struct assignments){ .in = in, .hosts = hosts };
	/* A row more: enumerate() finds the true one again, and leaves it out. */
	to->rows = calloc(HOSTS_ASSIGNMENTS + 1, hosts + 1);
	to->order = calloc(hosts + 1, 1);
	if (!to->rows || !to->order)
		return -ENOMEM;
	for (size_t i = 0; i < hosts; i++) {
		to->pairs += is_paired(in[i]);
		if (is_paired(in[i]))
			continue;
		to->rows[i] = in[i] == 2;
		to->in_on += in[i] == 2;
		to->order[to->singles++] = in[i] == 2;
	}
	to->nr = 1;
	ways = count_ways(to, HOSTS_ASSIGNMENTS);
	if (ways <= HOSTS_ASSIGNMENTS)
		enumerate(to);
	else
		draw(to);
	to->least_p = (is_symmetric(to) ? 2 : 1) / (double)to->nr;
	return 0;
}

static void clear_assignments(struct assignments *assignments)
{
	free(assignments->rows);
	free(assignments->order);
}

/* ---- one quantile of one latency ---- */

/*
 * The events of each host beyond each of some latencies, from which the quantiles of any assignment
 * are found. The latencies of ON are divided by a ratio.
 */
struct test {
	const struct hosts_latency *latency;
	const struct assignments *assignments;
	const struct lat_hist *hists; /* of all hosts: OFF, ON */
	double quantile;
	double lowest; /* ns; each latency is 2^(1/STEPS) times the one before */
	size_t nr;
	float *beyond; /* by latency, host and byte of a row: what the host adds to ON */
	double *all; /* by latency: of both groups */
	size_t room; /* latencies */
};

static double latency_at(const struct test *test, double step)
{
	return test->lowest * exp2(step / STEPS);
}

static void widen(const struct lat_hist *hist, double ratio, double *low, double *high)
{
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		if (!hist->slots[i])
			continue;
		*low = fmin(*low, fmax((double)hist_slot_low_ns(i), 1) / ratio);
		*high = fmax(*high, (double)hist_slot_low_ns(i + 1) / ratio);
	}
}

static int choose_latencies(struct test *test, double ratio)
{
	size_t hosts = test->assignments->hosts;
	double low = INFINITY, high = 0;

	widen(&test->hists[0], 1, &low, &high);
	widen(&test->hists[1], ratio, &low, &high);
	test->lowest = low;
	/* The first one is for all events, the last for none. */
	test->nr = (size_t)(log2(high / low) * STEPS) + 3;
	if (test->nr <= test->room)
		return 0;
	free(test->beyond);
	free(test->all);
	test->beyond = calloc(test->nr, 2 * hosts * sizeof(*test->beyond));
	test->all = calloc(test->nr, sizeof(*test->all));
	test->room = test->beyond && test->all ? test->nr : 0;
	return test->room ? 0 : -ENOMEM;
}

static int set_ratio(struct test *test, double ratio)
{
	const struct assignments *assignments = test->assignments;
	int err = choose_latencies(test, ratio);

	for (size_t i = 0; !err && i < test->nr; i++) {
		float *adds = test->beyond + i * 2 * assignments->hosts;
		double ns = i ? latency_at(test, (double)i - 1) : 0;

		test->all[i] = 0;
		for (size_t j = 0; j < assignments->hosts; j++) {
			const struct sparse *const off = test->latency->hists[0][j];
			const struct sparse *const on = test->latency->hists[1][j];
			float of_off = off ? (float)beyond(off, ns) : 0;
			float of_on = on ? (float)beyond(on, ns * ratio) : 0;
			bool paired = is_paired(assignments->in[j]);

			test->all[i] += (double)of_off + (double)of_on;
			adds[2 * j] = paired ? of_on : 0;
			adds[2 * j + 1] = paired || assignments->in[j] == 1 ? of_off : of_on;
		}
	}
	return err;
}

/* Events of a group of an assignment beyond a latency. */
static double group_beyond(const struct test *test, const unsigned char *row, bool is_on, size_t at)
{
	const float *adds = test->beyond + at * 2 * test->assignments->hosts;
	double on = 0;

	for (size_t i = 0; i < test->assignments->hosts; i++)
		on += (double)adds[2 * i + row[i]];
	return is_on ? on : test->all[at] - on;
}

/* The logarithm of the quantile of a group of an assignment; NAN: it has no events. */
static double group_quantile(const struct test *test, const unsigned char *row, bool is_on)
{
	double events = group_beyond(test, row, is_on, 0), wanted = (1 - test->quantile) * events;
	double more = events, less = 0;
	size_t low = 0, high = test->nr - 1;

	if (events < 0.5)
		return NAN;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		double found = group_beyond(test, row, is_on, middle);

		if (found > wanted) {
			low = middle;
			more = found;
		} else {
			high = middle;
			less = found;
		}
	}
	return log(latency_at(test, (double)low - (wanted - less) / fmax(more - less, 1e-9)));
}

/* How far the quantiles of an assignment are apart. */
static double distance(const struct test *test, const unsigned char *row)
{
	double apart = fabs(group_quantile(test, row, true) - group_quantile(test, row, false));

	return apart > 1e-6 ? apart : 0; /* also if NAN */
}

/* Rounding must not make an assignment less extreme than its mirror image. */
static bool reaches(double value, double limit)
{
	return value >= limit * (1 - 1e-6);
}

/* Is a ratio of the quantiles rejected? */
static bool rejects(struct test *test, double ratio, double alpha)
{
	const struct assignments *assignments = test->assignments;
	double observed, reached = 0, most = alpha * (double)assignments->nr;

	if (set_ratio(test, ratio))
		return false; /* no memory: the interval is wider */
	observed = distance(test, assignments->rows);
	for (size_t i = 0; i < assignments->nr && reached <= most; i++)
		reached += reaches(distance(test, assignments->rows + i * assignments->hosts),
				   observed);
	return reached <= most;
}

/* The end of the interval of a ratio, upwards (1) or downwards (-1); all as logarithms. */
static double find_end(struct test *test, double from, int way, double alpha)
{
	double in = 0, out = 0.02;

	while (!rejects(test, exp(from + way * out), alpha)) {
		in = out;
		out *= 2;
		if (out > WIDEST)
			return way * INFINITY;
	}
	while (out - in > FINEST) {
		double middle = (in + out) / 2;

		if (rejects(test, exp(from + way * middle), alpha))
			out = middle;
		else
			in = middle;
	}
	return from + way * out;
}

/* ---- all of them ---- */

static size_t with_events(const struct sparse *const *hists, size_t hosts)
{
	size_t nr = 0;

	for (size_t i = 0; i < hosts; i++)
		nr += hists[i] && sparse__count(hists[i]);
	return nr;
}

static uint64_t events_needed(double quantile)
{
	return (uint64_t)(LEAST_BEYOND / (1 - quantile) + 0.5);
}

/* Returns whether something is missing for a verdict, and describes it in `why`. */
static bool cannot_tell(const struct test *test, double alpha, char why[RUN_TEXT])
{
	const struct assignments *assignments = test->assignments;
	char have[UNITS_TEXT], need[UNITS_TEXT];

	for (unsigned int i = 0; i < 2; i++) {
		size_t with = with_events(test->latency->hists[i], assignments->hosts);
		uint64_t events = hist__count(&test->hists[i]);

		if (with < HOSTS_LEAST)
			snprintf(why, RUN_TEXT,
				 "too few hosts: %s has %zu with events, %d are needed",
				 judge__groups[i], with, HOSTS_LEAST);
		else if (events < events_needed(test->quantile))
			snprintf(why, RUN_TEXT, "too few events: %s has %s, %s are needed",
				 judge__groups[i], units__count(have, events),
				 units__count(need, events_needed(test->quantile)));
		else if (hist__quantile_ns(&test->hists[i], test->quantile) >= HIST_LIMIT_NS)
			snprintf(why, RUN_TEXT, "%s is beyond the last slot of the histogram",
				 judge__groups[i]);
		else
			continue;
		return true;
	}
	if (assignments->least_p <= alpha)
		return false;
	snprintf(why, RUN_TEXT,
		 "too few hosts: they can be assigned in %zu ways, so chance alone gives any "
		 "difference with a probability of %.2g",
		 assignments->nr, assignments->least_p);
	return true;
}

/* The quantiles of both groups, and their ratio; false: a group has no events. */
static bool show_values(const struct lat_hist hists[2], double quantile, struct judged *judged)
{
	*judged = judge__none;
	if (hist__count(&hists[0]))
		judged->off = fmax((double)hist__quantile_ns(&hists[0], quantile), 1);
	if (hist__count(&hists[1]))
		judged->on = fmax((double)hist__quantile_ns(&hists[1], quantile), 1);
	judged->ratio = judged->on / judged->off;
	return !isnan(judged->ratio);
}

/* The ratio that "no difference" allows and that is nearest to the observed one. */
static double null_ratio(const struct hosts_rules *rules, double ratio)
{
	double margin = 1 + rules->min_effect;

	return fmin(fmax(ratio, 1 / margin), margin);
}

/* Sets the distance of each assignment. */
static void judge_one(const struct hosts_rules *rules, struct test *test, float *distances,
		      struct judged *judged)
{
	const struct assignments *assignments = test->assignments;
	double alpha = 1 - rules->confidence, reached = 0;

	if (cannot_tell(test, alpha, judged->why))
		return;
	if (!rules->verdicts_only) {
		judged->low = exp(find_end(test, log(judged->ratio), -1, alpha));
		judged->high = exp(find_end(test, log(judged->ratio), 1, alpha));
	}
	if (set_ratio(test, null_ratio(rules, judged->ratio))) {
		snprintf(judged->why, RUN_TEXT, "out of memory");
		return;
	}
	judged->tested = true;
	for (size_t i = 0; i < assignments->nr; i++) {
		distances[i] = (float)distance(test, assignments->rows + i * assignments->hosts);
		reached += reaches(distances[i], distances[0]);
	}
	judged->p = reached / (double)assignments->nr;
}

static int largest_first(const void *left, const void *right)
{
	float a = *(const float *)left, b = *(const float *)right;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* Lowers the least p of each assignment to the one that its distance has in this test. */
static void lower(const float *distances, float *sorted, size_t nr, float *least)
{
	memcpy(sorted, distances, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), largest_first);
	for (size_t i = 0; i < nr; i++) {
		size_t low = 0, high = nr;
		float p;

		while (low < high) { /* the first that does not reach it */
			size_t middle = (low + high) / 2;

			if (reaches(sorted[middle], distances[i]))
				low = middle + 1;
			else
				high = middle;
		}
		p = (float)low / (float)nr;
		if (p < least[i])
			least[i] = p;
	}
}

/*
 * The share of the assignments in which some test has a p as low as this one. `distances` has those
 * of all tests.
 */
static int adjust(const struct hosts_rules *rules, const float *distances, size_t assignments,
		  struct judged *judged, size_t nr)
{
	const struct judge_rules verdict = { .confidence = rules->confidence };
	float *sorted = calloc(2 * assignments, sizeof(*sorted)), *least;
	size_t tests = 0;

	if (!sorted)
		return -ENOMEM;
	least = sorted + assignments;
	for (size_t i = 0; i < assignments; i++)
		least[i] = 1;
	for (size_t i = 0; i < nr; i++) {
		tests += judged[i].tested;
		if (judged[i].tested)
			lower(distances + i * assignments, sorted, assignments, least);
	}
	for (size_t i = 0; i < nr; i++) {
		double reached = 0;

		if (!judged[i].tested)
			continue;
		for (size_t j = 0; j < assignments; j++)
			reached += least[j] <= judged[i].p * (1 + 1e-6);
		judged[i].adjusted = reached / (double)assignments;
		judge__conclude(&verdict, JUDGE_QUANTILE, tests, &judged[i]);
	}
	free(sorted);
	return 0;
}

struct work {
	struct assignments assignments;
	struct lat_hist hists[2];
	float *distances; /* by test and assignment */
};

static void add_up(const struct sparse *const *hists, size_t hosts, struct lat_hist *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < hosts; i++)
		if (hists[i])
			sparse__add_to(sum, hists[i]);
}

static void judge_latency(const struct hosts_rules *rules, struct work *work,
			  const struct hosts_latency *latency, float *distances,
			  struct judged *judged)
{
	struct test test = { .latency = latency,
			     .assignments = &work->assignments,
			     .hists = work->hists };

	for (unsigned int i = 0; i < 2; i++)
		add_up(latency->hists[i], work->assignments.hosts, &work->hists[i]);
	for (size_t i = 0; i < rules->nr_quantiles; i++) {
		test.quantile = rules->quantiles[i];
		if (show_values(work->hists, test.quantile, &judged[i]))
			judge_one(rules, &test, distances + i * work->assignments.nr, &judged[i]);
		else
			snprintf(judged[i].why, RUN_TEXT, "no events in %s group",
				 isnan(judged[i].off) && isnan(judged[i].on) ? "either" : "one");
	}
	free(test.beyond);
	free(test.all);
}

static int judge_all(const struct hosts_rules *rules, struct work *work,
		     const struct hosts_latency *latencies, size_t nr, struct judged *judged)
{
	size_t all = nr * rules->nr_quantiles;

	work->distances = calloc(all * work->assignments.nr + 1, sizeof(*work->distances));
	if (!work->distances)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		size_t at = i * rules->nr_quantiles;

		judge_latency(rules, work, &latencies[i],
			      work->distances + at * work->assignments.nr, judged + at);
	}
	return adjust(rules, work->distances, work->assignments.nr, judged, all);
}

ssize_t hosts__compare(const struct hosts_rules *rules, const unsigned char *in, size_t hosts,
		       const struct hosts_latency *latencies, size_t nr, struct judged *judged)
{
	struct work *work = calloc(1, sizeof(*work));
	ssize_t tests = 0;
	int err;

	if (!work)
		return -ENOMEM;
	err = make_assignments(&work->assignments, in, hosts);
	if (!err)
		err = judge_all(rules, work, latencies, nr, judged);
	for (size_t i = 0; !err && i < nr * rules->nr_quantiles; i++)
		tests += judged[i].tested;
	clear_assignments(&work->assignments);
	free(work->distances);
	free(work);
	return err ? err : tests;
}

/* ---- one group ---- */

/* Events of some hosts, and how many of them are beyond a quantile. */
struct sums {
	double n, beyond;
};

static struct sums sums_of(const struct sparse *hist, double ns)
{
	if (!hist)
		return (struct sums){ 0 };
	return (struct sums){ (double)sparse__count(hist), beyond(hist, ns) };
}

struct one {
	const struct sparse *const *hists;
	size_t hosts;
	double beyond; /* 1 - quantile */
	double most; /* of Student's t */
};

/*
 * Is it too far from the quantile of the hosts? The variance is that of the jackknife: each host is
 * left out in turn, to first order, as for the variance "HC3" of J. G. MacKinnon and H. White
 * (J. Econom. 29 (1985) 305-325).
 */
static bool is_outside(const struct one *one, double ns)
{
	struct sums all = { 0 };
	double share, variance = 0, hosts = 0;

	for (size_t i = 0; i < one->hosts; i++) {
		struct sums host = sums_of(one->hists[i], ns);

		hosts += host.n > 0;
		all.n += host.n;
		all.beyond += host.beyond;
	}
	/* Half an event more: the logarithm of an empty tail is then finite, as in judge.c. */
	share = (all.beyond + 0.5) / (all.n + 1);
	for (size_t i = 0; i < one->hosts; i++) {
		struct sums host = sums_of(one->hists[i], ns);
		double without = (host.beyond - share * host.n) / fmax(all.n - host.n, 1);

		variance += without * without;
	}
	variance *= (hosts - 1) / hosts;
	return fabs(log(share / one->beyond)) * share > one->most * sqrt(variance);
}

/* NAN: there is no end. */
static double find_edge(const struct one *one, double from, double end)
{
	double in = log(from), out = log(end);

	if (!is_outside(one, end))
		return NAN;
	while (fabs(out - in) > FINEST) {
		double middle = (in + out) / 2;

		if (is_outside(one, exp(middle)))
			out = middle;
		else
			in = middle;
	}
	return exp(out);
}

/* As many hosts of equal load would show as much (L. Kish, Survey Sampling, Wiley 1965). */
static double effective_hosts(const struct sparse *const *hists, size_t hosts)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < hosts; i++) {
		double n = hists[i] ? (double)sparse__count(hists[i]) : 0;

		sum += n;
		squares += n * n;
	}
	return sum * sum / squares;
}

struct hosts_interval hosts__interval(const struct sparse *const *hists, size_t hosts,
				      double quantile, double confidence)
{
	struct one one = { .hists = hists, .hosts = hosts, .beyond = 1 - quantile };
	struct hosts_interval interval = { NAN, NAN, "" };
	size_t with = with_events(hists, hosts);
	struct lat_hist sum;
	uint64_t events;
	double at, effective;

	add_up(hists, hosts, &sum);
	events = hist__count(&sum);
	effective = events ? effective_hosts(hists, hosts) : 0;
	if (!events)
		snprintf(interval.why, RUN_TEXT, "no events");
	else if (with < HOSTS_LEAST)
		snprintf(interval.why, RUN_TEXT, "too few hosts");
	else if (effective < HOSTS_LEAST_EFFECTIVE)
		snprintf(interval.why, RUN_TEXT, "one host has most of the events");
	else if (events < events_needed(quantile))
		snprintf(interval.why, RUN_TEXT, "too few events");
	if (interval.why[0])
		return interval;
	one.most = dist__t_quantile(0.5 + confidence / 2, effective - 1);
	at = fmax((double)hist__quantile_of(&sum, events, quantile), 1);
	interval.low = find_edge(&one, at, 0.01);
	/* Behind the slot of the maximum. */
	interval.high = find_edge(&one, at, (double)sum.max_ns * 1.1 + 64);
	if (isnan(interval.low) || isnan(interval.high))
		snprintf(interval.why, RUN_TEXT, "the hosts differ too much");
	return interval;
}
