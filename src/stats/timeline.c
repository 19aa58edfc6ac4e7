// SPDX-License-Identifier: BSD-2-Clause
#include "timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/vec.h>

#include "inference.h"

/*
 * An interval with fewer events counts as if it had this many, or a tenth of the average: one slow
 * event of two does not make a bad interval.
 */
#define LEAST_EVENTS 100
#define LEAST_PART 10
#define WORST 0.75 /* ranks above this fraction are the worst quarter */

const char *timeline__word(enum timeline_verdict verdict)
{
	static const char *const words[] = { "no correlation shown", "positive correlation",
					     "negative correlation" };

	return words[verdict];
}

static uint64_t count_from(const struct lat_hist *hist, uint32_t slot)
{
	uint64_t count = 0;

	for (; slot < HIST_SLOTS; slot++)
		count += hist->slots[slot];
	return count;
}

/* Distance of a share from TIMELINE_SLOW, as the logarithm of their ratio. */
static double off_by(uint64_t slow, uint64_t events)
{
	return slow ? fabs(log((double)slow / (double)events / TIMELINE_SLOW)) : INFINITY;
}

/* The edge of a slot for which the share of events beyond it is nearest to TIMELINE_SLOW. */
static uint64_t slow_from(const struct lat_hist *hist)
{
	uint64_t events = hist__count(hist);
	uint32_t slot = hist_slot(hist__quantile_ns(hist, 1 - TIMELINE_SLOW));

	if (slot < HIST_OVERFLOW_SLOT &&
	    off_by(count_from(hist, slot + 1), events) <= off_by(count_from(hist, slot), events))
		slot++;
	return hist_slot_low_ns(slot);
}

static uint64_t slow_of(const struct timeline_probe *probe, const struct lat_hist *hist)
{
	return count_from(hist, hist_slot(probe->slow_ns));
}

static uint64_t slow_of_some(const struct timeline_probe *probe, const struct sparse *hist)
{
	return sparse__count_from(hist, hist_slot(probe->slow_ns));
}

/* `some` is the same histogram as `hist`, without its empty slots, which are most. */
static void fill_cell(const struct timeline_probe *probe, const struct lat_hist *hist,
		      const struct sparse *some, struct timeline_cell *cell)
{
	cell->slow = slow_of_some(probe, some);
	cell->events = sparse__count(some);
	if (!cell->events) /* as in most intervals of an idle disk; *cell is already zeroed */
		return;
	cell->p99_ns = hist__quantile_of(hist, cell->events, 0.99);
	cell->max_ns = hist->max_ns;
}

static int start_probe(struct timeline *timeline, unsigned int index)
{
	const struct run_probe *probe = &timeline->run->probes[index];
	const struct lat_hist *hist = &probe->total.metrics[0].hist;
	struct timeline_probe *to = &timeline->probes[timeline->nr_probes];

	if (probe->refused[0] || !probe->nr_metrics)
		return 0;
	timeline->nr_probes++;
	to->probe = probe;
	to->index = index;
	to->slow_ns = timeline->rules.slow_ns ? timeline->rules.slow_ns : slow_from(hist);
	to->events = hist__count(hist);
	to->slow = slow_of(to, hist);
	to->cells = calloc(timeline->nr + 1, sizeof(*to->cells));
	to->lines = calloc(timeline->nr_lines + 1, sizeof(*to->lines));
	to->scores = calloc(timeline->nr + 1, sizeof(*to->scores));
	to->is_worst = calloc(timeline->nr + 1, sizeof(*to->is_worst));
	return to->cells && to->lines && to->scores && to->is_worst ? 0 : -ENOMEM;
}

static int start(struct timeline *timeline, struct rundb *db)
{
	size_t most = timeline->rules.lines;
	ssize_t intervals;
	int err = 0;

	intervals = rundb__intervals(db);
	if (intervals < 0)
		return (int)intervals;
	timeline->nr = (size_t)intervals;
	timeline->per_line = most ? (timeline->nr + most - 1) / most : 1;
	if (timeline->nr)
		timeline->nr_lines = (timeline->nr + timeline->per_line - 1) / timeline->per_line;
	timeline->start_ns = calloc(timeline->nr + 1, sizeof(*timeline->start_ns));
	timeline->end_ns = calloc(timeline->nr + 1, sizeof(*timeline->end_ns));
	timeline->correlated = calloc(timeline->nr + 1, sizeof(*timeline->correlated));
	if (!timeline->start_ns || !timeline->end_ns || !timeline->correlated)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < timeline->run->nr_probes; i++)
		err = start_probe(timeline, i);
	return err;
}

static void note_length(struct timeline *timeline, uint64_t ns)
{
	uint64_t asked = timeline->run->interval_ns;

	timeline->nr_longer += asked && ns >= asked + asked / 2;
	if (timeline->longest_ns < ns)
		timeline->longest_ns = ns;
}

struct walk {
	struct lat_hist sums[RUN_PROBES]; /* by probe, of the line so far */
	struct sparse some; /* the current histogram without its empty slots */
};

static int add_cell(struct timeline *timeline, size_t at, unsigned int index,
		    const struct lat_hist *hist, struct walk *walk)
{
	bool ends_line = at + 1 == timeline->nr || (at + 1) % timeline->per_line == 0;
	struct timeline_probe *probe = &timeline->probes[index];
	struct lat_hist *sum = &walk->sums[index];
	int err = sparse__set(&walk->some, hist);

	if (err)
		return err;
	fill_cell(probe, hist, &walk->some, &probe->cells[at]);
	probe->empty += !probe->cells[at].events;
	if (probe->cells[at].events)
		sparse__add_to(sum, &walk->some);
	if (!ends_line)
		return 0;
	err = sparse__set(&walk->some, sum);
	if (!err)
		fill_cell(probe, sum, &walk->some, &probe->lines[at / timeline->per_line]);
	memset(sum, 0, sizeof(*sum));
	return err;
}

/* Adds interval number `at`, also to its line. */
static int add_interval(struct timeline *timeline, size_t at, const struct run_interval *interval,
			struct walk *walk)
{
	int err = 0;

	timeline->start_ns[at] = interval->start_ns;
	timeline->end_ns[at] = interval->end_ns;
	note_length(timeline, interval->end_ns - interval->start_ns);
	for (unsigned int i = 0; !err && i < timeline->nr_probes; i++) {
		const struct run_data *delta = &interval->delta[timeline->probes[i].index];

		err = add_cell(timeline, at, i, &delta->metrics[0].hist, walk);
	}
	return err;
}

static int read_intervals(struct timeline *timeline, struct rundb *db)
{
	struct run_interval interval;
	struct walk *walk;
	int err = 0, got;

	walk = calloc(1, sizeof(*walk));
	if (!walk)
		return -ENOMEM;
	rundb__rewind(db, false);
	for (size_t i = 0; !err && i < timeline->nr; i++) {
		got = rundb__next(db, &interval);
		if (got > 0)
			err = add_interval(timeline, i, &interval, walk);
		else
			err = got ? got : -EUCLEAN;
	}
	sparse__clear(&walk->some);
	free(walk);
	return err;
}

/* Ranks the shares of slow events. An interval without events has none: 0. */
static int score(const struct timeline *timeline, struct timeline_probe *probe)
{
	double least =
		fmax(LEAST_EVENTS, (double)probe->events / (double)timeline->nr / LEAST_PART);
	double *ranks;
	int err;

	for (size_t i = 0; i < timeline->nr; i++)
		probe->scores[i] =
			(double)probe->cells[i].slow / fmax((double)probe->cells[i].events, least);
	ranks = calloc(timeline->nr + 1, sizeof(*ranks));
	if (!ranks)
		return -ENOMEM;
	err = ranks__of(probe->scores, timeline->nr, ranks);
	for (size_t i = 0; !err && i < timeline->nr; i++) {
		probe->is_worst[i] =
			probe->cells[i].slow && ranks[i] > WORST * (double)timeline->nr;
		probe->worst += probe->is_worst[i];
	}
	free(ranks);
	return err;
}

static size_t slow_intervals(const struct timeline *timeline, const struct timeline_probe *probe)
{
	size_t nr = 0;

	for (size_t i = 0; i < timeline->nr; i++)
		nr += probe->cells[i].slow > 0;
	return nr;
}

static bool cannot_tell(const struct timeline *timeline, struct timeline_pair *pair)
{
	const unsigned int members[] = { pair->a, pair->b };

	if (timeline->nr < TIMELINE_LEAST_INTERVALS) {
		snprintf(pair->why, RUN_TEXT, "too few intervals: %zu, %d are needed", timeline->nr,
			 TIMELINE_LEAST_INTERVALS);
		return true;
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct timeline_probe *probe = &timeline->probes[members[i]];
		size_t slow = slow_intervals(timeline, probe);

		if (slow >= TIMELINE_LEAST_SLOW)
			continue;
		snprintf(pair->why, RUN_TEXT, "%s has slow events in %zu interval%s, %d are needed",
			 probe->probe->name, slow, slow == 1 ? "" : "s", TIMELINE_LEAST_SLOW);
		return true;
	}
	return false;
}

static int correlate(const struct timeline *timeline, struct timeline_pair *pair)
{
	const struct timeline_probe *a = &timeline->probes[pair->a];
	const struct timeline_probe *b = &timeline->probes[pair->b];
	int err;

	err = ranks__correlate(a->scores, b->scores, timeline->nr, timeline->rules.confidence,
			       &pair->found);
	if (err || !isnan(pair->found.p))
		return err;
	if (isnan(pair->found.rho))
		snprintf(pair->why, RUN_TEXT, "one of the two does not vary");
	else
		snprintf(
			pair->why, RUN_TEXT,
			"too few effective intervals: %.2g of %zu, %d are needed (autocorrelation)",
			pair->found.effective, timeline->nr, RANKS_LEAST_EFFECTIVE);
	return 0;
}

static int add_pair(struct timeline *timeline, unsigned int a, unsigned int b)
{
	struct timeline_pair *pair = &timeline->pairs[timeline->nr_pairs++];
	const struct timeline_probe *one = &timeline->probes[a], *other = &timeline->probes[b];

	*pair = (struct timeline_pair){
		.a = a, .b = b, .found = { NAN, 0, NAN, NAN, NAN }, .adjusted = NAN
	};
	for (size_t i = 0; i < timeline->nr; i++)
		pair->both += one->is_worst[i] && other->is_worst[i];
	if (timeline->nr)
		pair->by_chance = (double)one->worst * (double)other->worst / (double)timeline->nr;
	return cannot_tell(timeline, pair) ? 0 : correlate(timeline, pair);
}

static void conclude(const struct timeline *timeline, struct timeline_pair *pair)
{
	double alpha = 1 - timeline->rules.confidence;

	if (pair->adjusted <= alpha)
		pair->verdict = pair->found.rho > 0 ? TIMELINE_POSITIVE : TIMELINE_NEGATIVE;
	else if (pair->found.p <= alpha)
		snprintf(pair->why, RUN_TEXT,
			 "significant by itself (p = %.2g), but not as one of several pairs",
			 pair->found.p);
}

/* The tests of all pairs of probes are corrected together. */
static int judge_pairs(struct timeline *timeline)
{
	double p[TIMELINE_PAIRS];
	unsigned int tested = 0;
	int err;

	for (unsigned int i = 0; i < timeline->nr_pairs; i++) {
		if (!isnan(timeline->pairs[i].found.p))
			p[tested++] = timeline->pairs[i].found.p;
	}
	err = holm__adjust(p, tested);
	tested = 0;
	for (unsigned int i = 0; !err && i < timeline->nr_pairs; i++) {
		struct timeline_pair *pair = &timeline->pairs[i];

		if (isnan(pair->found.p))
			continue;
		pair->adjusted = p[tested++];
		conclude(timeline, pair);
	}
	return err;
}

static void mark_together(struct timeline *timeline)
{
	for (unsigned int i = 0; i < timeline->nr_pairs; i++) {
		const struct timeline_pair *pair = &timeline->pairs[i];

		for (size_t j = 0; pair->verdict == TIMELINE_POSITIVE && j < timeline->nr; j++)
			timeline->correlated[j] |= timeline->probes[pair->a].is_worst[j] &&
						   timeline->probes[pair->b].is_worst[j];
	}
	for (size_t i = 0; i < timeline->nr; i++)
		timeline->nr_correlated += timeline->correlated[i];
}

static int find_pairs(struct timeline *timeline)
{
	int err = 0;

	for (unsigned int i = 0; !err && timeline->nr && i < timeline->nr_probes; i++)
		err = score(timeline, &timeline->probes[i]);
	for (unsigned int i = 0; i < timeline->nr_probes; i++) {
		for (unsigned int j = i + 1; !err && j < timeline->nr_probes; j++)
			err = add_pair(timeline, i, j);
	}
	if (!err)
		err = judge_pairs(timeline);
	if (!err)
		mark_together(timeline);
	return err;
}

static int add_contributors(struct timeline *timeline, unsigned int index)
{
	const struct timeline_probe *probe = &timeline->probes[index];
	const struct run_data *data = &probe->probe->total;

	for (size_t i = 0; i < data->nr_keys; i++) {
		struct timeline_contributor found = { .key = &data->keys[i], .probe = index };

		if (found.key->key.metric)
			continue;
		found.events = sparse__count(&found.key->hist);
		found.slow = slow_of_some(probe, &found.key->hist);
		if (!found.slow)
			continue;
		if (vec__append(&timeline->contributors, &timeline->nr_contributors, &found,
				sizeof(found)))
			return -ENOMEM;
	}
	return 0;
}

/* A key has the same position in an interval as in the totals. */
static void add_together(struct timeline *timeline, const struct run_interval *interval)
{
	for (size_t i = 0; i < timeline->nr_contributors; i++) {
		struct timeline_contributor *contributor = &timeline->contributors[i];
		const struct timeline_probe *probe = &timeline->probes[contributor->probe];
		size_t place = (size_t)(contributor->key - probe->probe->total.keys);

		contributor->slow_correlated +=
			slow_of_some(probe, &interval->delta[probe->index].keys[place].hist);
	}
}

static int read_together(struct timeline *timeline, struct rundb *db)
{
	struct run_interval interval;
	int got = 1;

	rundb__rewind(db, true);
	for (size_t i = 0; got > 0 && i < timeline->nr; i++) {
		got = rundb__next(db, timeline->correlated[i] ? &interval : NULL);
		if (got > 0 && timeline->correlated[i])
			add_together(timeline, &interval);
	}
	return got < 0 ? got : 0;
}

static int most_slow_first(const void *left, const void *right)
{
	const struct timeline_contributor *a = left, *b = right;

	if (a->probe != b->probe)
		return a->probe < b->probe ? -1 : 1;
	if (a->key->key.by != b->key->key.by)
		return a->key->key.by < b->key->key.by ? -1 : 1;
	if (a->slow != b->slow)
		return a->slow < b->slow ? 1 : -1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static int find_contributors(struct timeline *timeline, struct rundb *db)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < timeline->nr_probes; i++)
		err = add_contributors(timeline, i);
	if (!err && timeline->nr_contributors && timeline->nr_correlated)
		err = read_together(timeline, db);
	if (!err && timeline->nr_contributors)
		qsort(timeline->contributors, timeline->nr_contributors,
		      sizeof(*timeline->contributors), most_slow_first);
	return err;
}

int timeline__read(struct timeline *timeline, struct rundb *db, const struct run *run,
		   const struct timeline_rules *rules)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->run = run;
	timeline->rules = *rules;
	return start(timeline, db) ?:
	       read_intervals(timeline, db) ?:
	       find_pairs(timeline) ?:
	       find_contributors(timeline, db);
}

void timeline__clear(struct timeline *timeline)
{
	for (unsigned int i = 0; i < timeline->nr_probes; i++) {
		free(timeline->probes[i].cells);
		free(timeline->probes[i].lines);
		free(timeline->probes[i].scores);
		free(timeline->probes[i].is_worst);
	}
	free(timeline->start_ns);
	free(timeline->end_ns);
	free(timeline->correlated);
	free(timeline->contributors);
	memset(timeline, 0, sizeof(*timeline));
}

uint64_t timeline__slow_correlated(const struct timeline *timeline, unsigned int probe)
{
	uint64_t slow = 0;

	for (size_t i = 0; i < timeline->nr; i++) {
		if (timeline->correlated[i])
			slow += timeline->probes[probe].cells[i].slow;
	}
	return slow;
}
