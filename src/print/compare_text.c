// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>
#include <core/units.h>
#include <stats/inference.h>
#include <stats/observation.h>

#include "compare.h"
#include "wrap.h"

#define TEXT UNITS_TEXT
#define SHOWN_NAMES 5 /* of those without a difference */
#define WIDE_RATIO 2 /* larger ratios, and their inverse, are factors; others are percent */

struct comparison_view {
	FILE *out;
	const struct comparison *comparison;
	bool color, verbose;
};

static void paint(const struct comparison_view *view, const char *code)
{
	if (view->color)
		fprintf(view->out, "\033[%sm", code);
}

static const char *plural(size_t nr)
{
	return nr == 1 ? "" : "s";
}

/* With extra digits for small shares, because their difference matters. */
static const char *share(char buf[TEXT], double value)
{
	if (value <= 0 || value >= 1e-3)
		return units__ratio(buf, value);
	snprintf(buf, TEXT, "%.2g %%", value * 100);
	return buf;
}

static const char *points(char buf[TEXT], double difference)
{
	double percent = difference * 100, size = fabs(percent);
	int decimals = size < 0.0995 ? 3 : size < 9.995 ? 2 : 1;

	snprintf(buf, TEXT, "%+.*f pp", decimals, percent);
	return buf;
}

static const char *latency_difference(char buf[TEXT], double ns)
{
	char size[TEXT];

	snprintf(buf, TEXT, "%c%.30s", ns < 0 ? '-' : '+', units__ns(size, fabs(ns)));
	return buf;
}

/* At most nine columns wide. */
static const char *count(char buf[TEXT], uint64_t value)
{
	const char *prefix = "MGT";
	double scaled = (double)value / 1e6;

	if (value < 1000000)
		return units__count(buf, value);
	for (; scaled >= 999.5 && prefix[1]; prefix++)
		scaled /= 1e3;
	snprintf(buf, TEXT, "%.3g %c", scaled, *prefix);
	return buf;
}

static const char *rate(char buf[TEXT], double per_second)
{
	char size[TEXT];

	if (per_second < 99999.5)
		return units__rate(buf, per_second);
	snprintf(buf, TEXT, "%.28s/s", count(size, (uint64_t)per_second));
	return buf;
}

/* A factor like "0.12", or percent like "-12.3". */
static const char *factor(char buf[TEXT], double ratio, bool as_percent)
{
	double percent = (ratio - 1) * 100, size = fabs(percent);

	if (as_percent)
		snprintf(buf, TEXT, "%+.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, percent);
	else if (ratio < 0.0095)
		snprintf(buf, TEXT, "<.01");
	else if (ratio > 9999)
		snprintf(buf, TEXT, ">9999");
	else
		snprintf(buf, TEXT, "%.*f", ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
	return buf;
}

static const char *times(char buf[TEXT], double ratio)
{
	char text[TEXT];

	snprintf(buf, TEXT, "x%.30s", factor(text, ratio, false));
	return buf;
}

static bool is_wide(double ratio)
{
	return ratio >= WIDE_RATIO || ratio <= 1.0 / WIDE_RATIO;
}

/* Is a part of it so large that a factor says more than percent? */
static bool as_percent_of(const struct judged *judged)
{
	return !is_wide(judged->ratio) && !is_wide(judged->low) && !is_wide(judged->high);
}

static void print_relative(const struct comparison_view *view, double ratio, bool as_percent)
{
	char text[TEXT], relative[TEXT + 4] = "-";

	if (!isnan(ratio) && as_percent)
		snprintf(relative, sizeof(relative), "%s %%", factor(text, ratio, true));
	else if (!isnan(ratio))
		times(relative, ratio);
	fprintf(view->out, " %7s", relative);
}

static void print_interval(const struct comparison_view *view, const struct judged *judged,
			   bool as_percent)
{
	char low[TEXT], high[TEXT], text[2 * TEXT + 8] = "";

	if (!isnan(judged->low))
		snprintf(text, sizeof(text), "[%s, %s]", factor(low, judged->low, as_percent),
			 factor(high, judged->high, as_percent));
	fprintf(view->out, " %15s", text);
}

static size_t observations_of(const struct group *group, bool intervals)
{
	size_t sum = 0;

	for (size_t i = 0; i < group->nr; i++)
		sum += intervals ? group->recordings[i].intervals
				 : group->recordings[i].observations;
	return sum;
}

/* True if no test is possible: a group has too few observations. */
static bool none_can_tell(const struct comparison *comparison)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (comparison->rules.judge.batches &&
		    observations_of(&comparison->groups[i], false) < JUDGE_LEAST_OBSERVATIONS)
			return true;
	}
	return false;
}

static void print_verdict(const struct comparison_view *view, const struct judged *judged,
			  bool wanted)
{
	static const char *const colors[JUDGE_VERDICTS] = { "0", "31", "32", "0", "0", "0" };

	if (!wanted) {
		fputs(" not tested\n", view->out);
		return;
	}
	paint(view, colors[judged->verdict]);
	fprintf(view->out, " %s", judge__verdict(judged));
	paint(view, "0");
	fputc('\n', view->out);
}

/* Name, the values of both groups and their difference. */
static void print_groups(const struct comparison_view *view, const char *name, const char *off,
			 const char *on, const char *difference)
{
	fprintf(view->out, "%-6s %9s %9s %9s", name, off, on, difference);
}

static const char *rate_difference(char buf[TEXT], double per_second)
{
	char size[TEXT];

	snprintf(buf, TEXT, "%c%.30s", per_second < 0 ? '-' : '+', rate(size, fabs(per_second)));
	return buf;
}

/* How values of a statistic and their differences are printed. */
struct writing {
	const char *(*value)(char buf[TEXT], double value);
	const char *(*difference)(char buf[TEXT], double difference);
};

static const struct writing *writing_of(unsigned int statistic)
{
	static const struct writing of_share = { share, points };
	static const struct writing of_rate = { rate, rate_difference };
	static const struct writing of_latency = { units__ns, latency_difference };

	if (judge__is_rate(statistic))
		return &of_rate;
	return statistic == JUDGE_TAIL ? &of_share : &of_latency;
}

static void statistic_row(const struct comparison_view *view, const struct judged *judged,
			  unsigned int statistic)
{
	const struct judge_rules *rules = &view->comparison->rules.judge;
	bool as_percent = as_percent_of(judged);
	char off[TEXT] = "-", on[TEXT] = "-", difference[TEXT] = "-";
	const struct writing *writing = writing_of(statistic);

	if (!isnan(judged->off))
		writing->value(off, judged->off);
	if (!isnan(judged->on))
		writing->value(on, judged->on);
	if (!isnan(judged->on - judged->off))
		writing->difference(difference, judged->on - judged->off);
	print_groups(view, judge__name(statistic), off, on, difference);
	print_relative(view, judged->ratio, as_percent);
	print_interval(view, judged, as_percent);
	print_verdict(view, judged, rules->statistics & 1U << statistic);
}

const char *compare__value(char buf[TEXT], double value, unsigned int statistic)
{
	return writing_of(statistic)->value(buf, value);
}

void compare__print_value(FILE *out, const struct judged *judged, unsigned int statistic)
{
	char value[TEXT] = "-";

	if (!isnan(judged->on))
		writing_of(statistic)->value(value, judged->on);
	fprintf(out, "%-6s %9s", judge__name(statistic), value);
}

void compare__print_ratio(FILE *out, const struct judged *judged)
{
	const struct comparison_view view = { .out = out };

	print_relative(&view, judged->ratio, !is_wide(judged->ratio));
}

void compare__print_judged(FILE *out, const struct judged *judged, bool color)
{
	bool as_percent = as_percent_of(judged);
	const struct comparison_view view = { .out = out, .color = color };

	print_relative(&view, judged->ratio, as_percent);
	print_interval(&view, judged, as_percent);
	print_verdict(&view, judged, true);
}

static void max_row(const struct comparison_view *view, const struct comparison_total total[2])
{
	double off = (double)total[0].max_ns, on = (double)total[1].max_ns;
	bool both = total[0].events && total[1].events;
	double ratio = both && off > 0 ? on / off : NAN;
	char texts[3][TEXT];

	print_groups(view, "max", total[0].events ? units__ns(texts[0], off) : "-",
		     total[1].events ? units__ns(texts[1], on) : "-",
		     both ? latency_difference(texts[2], on - off) : "-");
	print_relative(view, ratio, !is_wide(ratio));
	fputc('\n', view->out);
}

static void count_rows(const struct comparison_view *view, const struct comparison_row *row)
{
	const struct comparison_total *total = row->total;

	char off[TEXT], on[TEXT];

	fprintf(view->out, "%-6s %9s %9s\n", "events", count(off, total[0].events),
		count(on, total[1].events));
	if (row->tail->ns)
		fprintf(view->out, "%-6s %9s %9s\n", "  tail", count(off, total[0].tail),
			count(on, total[1].tail));
}

/* Statistics with the same reason share a line. */
static void reasons(const struct comparison_view *view,
		    const struct judged statistics[JUDGE_STATISTICS])
{
	uint32_t printed = ~view->comparison->rules.judge.statistics;
	struct wrap wrap = { 0 };

	if (none_can_tell(view->comparison)) /* the head has the reason */
		return;
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++) {
		if (printed & 1U << i || !statistics[i].why[0])
			continue;
		for (unsigned int j = i; j < JUDGE_STATISTICS; j++) {
			if (printed & 1U << j || strcmp(statistics[i].why, statistics[j].why))
				continue;
			wrap__add(&wrap, "%s%s", j == i ? "" : ", ", judge__name(j));
			printed |= 1U << j;
		}
		wrap__add(&wrap, ": %s%s",
			  statistics[i].tested ? "" : "cannot tell: ", statistics[i].why);
		wrap__print(&wrap, view->out, 0, 2);
	}
}

static void add_wilson(struct wrap *wrap, const char *name, const struct comparison_total *total)
{
	char low[TEXT], high[TEXT], part[TEXT], whole[TEXT];

	wrap__add(wrap, "%s %s to %s (%s of %s)", name, share(low, total->wilson.low),
		  share(high, total->wilson.high), units__count(part, total->tail),
		  units__count(whole, total->events));
}

/* The interval of each group's tail share, and the ratios of the two. */
static void describe_tail(const struct comparison_view *view, const struct comparison_row *row)
{
	const struct judged *tail = &row->statistics[JUDGE_TAIL];
	double odds = share__odds_ratio(tail->off, tail->on);
	struct wrap wrap = { 0 };
	char text[TEXT];

	if (!row->tail->ns)
		return;
	wrap__add(&wrap, "tail: %s or more", units__duration(text, row->tail->ns));
	for (unsigned int i = 0; view->verbose && i < 2; i++) {
		if (row->total[i].events)
			add_wilson(&wrap, i ? ", ON" : "; OFF", &row->total[i]);
	}
	if (view->verbose)
		wrap__add(&wrap, ": Wilson intervals, assuming independent events");
	if (view->verbose && !isnan(tail->ratio))
		wrap__add(&wrap, "; risk ratio %.3g", tail->ratio);
	if (view->verbose && !isnan(odds))
		wrap__add(&wrap, ", odds ratio %.3g", odds);
	wrap__print(&wrap, view->out, 0, 2);
}

/* Both distributions by log2 bucket: counts, shares, and the ratio of the shares. */
static void print_buckets(const struct comparison_view *view, const struct comparison_row *row)
{
	const struct comparison_total *off = &row->total[0], *on = &row->total[1];
	char range[TEXT], counts[2][TEXT], shares[2][TEXT], ratio[TEXT];
	unsigned int first = 0, last = HIST_LOG2_BUCKETS;

	if (!off->events && !on->events)
		return;
	while (!off->buckets[first] && !on->buckets[first])
		first++;
	while (!off->buckets[last - 1] && !on->buckets[last - 1])
		last--;
	fprintf(view->out, "%-12s %9s %8s %11s %8s %8s\n", "us", judge__groups[0], "share",
		judge__groups[1], "share", "ON / OFF");
	for (unsigned int i = first; i < last; i++) {
		double off_share = off->events ? (double)off->buckets[i] / (double)off->events : 0;
		double on_share = on->events ? (double)on->buckets[i] / (double)on->events : 0;
		bool known = off_share > 0 && on->events;

		fprintf(view->out, "%-12s %9s %8s %11s %8s %8s\n", units__bucket(range, i),
			count(counts[0], off->buckets[i]), share(shares[0], off_share),
			count(counts[1], on->buckets[i]), share(shares[1], on_share),
			known ? times(ratio, on_share / off_share) : "-");
	}
}

static void row_heading(const struct comparison_view *view, const struct comparison_row *row)
{
	const struct run_metric *metric = &row->probe->metrics[row->metric];
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "%s %s", row->probe->name, metric->name);
	if (row->by == GROUP_WHOLE)
		wrap__add(&wrap, ": %s", metric->what);
	else
		wrap__add(&wrap, ", %s %s", split__name((unsigned int)row->by), row->key);
	fputc('\n', view->out);
	paint(view, "1");
	wrap__print(&wrap, view->out, 0, 2);
	paint(view, "0");
}

static void print_row(const struct comparison_view *view, const struct comparison_row *row)
{
	char interval[TEXT + sizeof(" interval")], confidence[TEXT];

	row_heading(view, row);
	snprintf(interval, sizeof(interval), "%s interval",
		 units__confidence(confidence, view->comparison->rules.judge.confidence));
	fprintf(view->out, "%-6s %9s %9s %17s %15s %s\n", "", judge__groups[0], judge__groups[1],
		"difference", interval, "verdict");
	statistic_row(view, &row->statistics[JUDGE_TAIL], JUDGE_TAIL);
	statistic_row(view, &row->statistics[JUDGE_RATE], JUDGE_RATE);
	statistic_row(view, &row->statistics[JUDGE_TAIL_RATE], JUDGE_TAIL_RATE);
	for (unsigned int i = JUDGE_QUANTILE; i < JUDGE_LATENCIES; i++)
		statistic_row(view, &row->statistics[i], i);
	max_row(view, row->total);
	reasons(view, row->statistics);
	count_rows(view, row);
	describe_tail(view, row);
	if (row->by == GROUP_WHOLE)
		print_buckets(view, row);
}

static uint64_t time_of(const struct group *group)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < group->nr; i++)
		sum += group->recordings[i].run->duration_ns;
	return sum;
}

static void describe_groups(const struct comparison_view *view)
{
	char time[TEXT];

	for (unsigned int i = 0; i < 2; i++) {
		const struct group *group = &view->comparison->groups[i];
		struct wrap wrap = { 0 };

		wrap__add(&wrap, "%s: %zu recording%s, %s: %s", judge__groups[i], group->nr,
			  plural(group->nr), units__duration(time, time_of(group)),
			  group->recordings[0].path);
		if (group->nr > 1)
			wrap__add(&wrap, " to %s", group->recordings[group->nr - 1].path);
		wrap__print(&wrap, view->out, 0, 5);
	}
}

/* The least ratio that the assumed variation from run to run alone permits to be shown. */
static double least_ratio(const struct comparison *comparison)
{
	const struct judge_rules *rules = &comparison->rules.judge;
	double variance = log1p(rules->run_spread * rules->run_spread);

	return exp(dist__normal_quantile(0.5 + rules->confidence / 2) *
		   sqrt(variance / (double)comparison->groups[0].nr +
			variance / (double)comparison->groups[1].nr)) *
	       (1 + rules->min_effect);
}

static void add_method(struct wrap *wrap, const struct comparison *comparison)
{
	const struct group *off = &comparison->groups[0], *on = &comparison->groups[1];

	if (!comparison->rules.judge.batches) {
		wrap__add(wrap,
			  "An observation is a run: %zu against %zu. The value of a group is the "
			  "geometric mean of its runs.",
			  off->nr, on->nr);
		return;
	}
	wrap__add(wrap,
		  "An observation is a batch of a run's intervals: %zu against %zu, from %zu and "
		  "%zu intervals. It does not show the variation from run to run: %g %% is assumed "
		  "(--run-spread), so only a difference by a factor of %.2g or more can be shown. "
		  "Groups of %d recordings or more show the variation.",
		  observations_of(off, false), observations_of(on, false),
		  observations_of(off, true), observations_of(on, true),
		  comparison->rules.judge.run_spread * 100, least_ratio(comparison),
		  JUDGE_LEAST_OBSERVATIONS);
}

static void describe_method(const struct comparison_view *view)
{
	const struct comparison *comparison = view->comparison;
	const struct judge_rules *rules = &comparison->rules.judge;
	struct wrap wrap = { 0 };
	const char *before = "";
	char confidence[TEXT];

	if (!none_can_tell(comparison)) {
		add_method(&wrap, comparison);
		wrap__print(&wrap, view->out, 0, 0);
	}
	wrap__add(&wrap,
		  "Intervals: %s confidence intervals of the ratio ON / OFF, by Student's t on "
		  "logarithms. Verdicts are corrected for %zu test%s (Holm). Tested: ",
		  units__confidence(confidence, rules->confidence), comparison->family,
		  plural(comparison->family));
	for (unsigned int i = 0; i <= JUDGE_SHARE; i++) {
		if (!(rules->statistics & 1U << i))
			continue;
		wrap__add(&wrap, "%s%s", before, judge__name(i));
		before = ", ";
	}
	if (rules->min_effect > 0)
		wrap__add(&wrap, "; ratios up to %.4g or its inverse are no difference",
			  1 + rules->min_effect);
	wrap__add(&wrap, ". A larger latency or tail is worse; a higher rate or share is neither "
			 "better nor worse. Max and counts are not tested.");
	wrap__print(&wrap, view->out, 0, 0);
}

/* Length of the warning without the path of a recording at its end. */
static size_t length_of(const struct comparison *comparison, const char *warning)
{
	size_t len = strlen(warning);

	for (size_t i = 0; i < comparison->groups[0].nr + comparison->groups[1].nr; i++) {
		bool on = i >= comparison->groups[0].nr;
		const char *path = comparison->groups[on]
					   .recordings[on ? i - comparison->groups[0].nr : i]
					   .path;

		if (len > strlen(path) && !strcmp(warning + len - strlen(path), path))
			return len - strlen(path);
	}
	return len;
}

/* How many warnings from this one on differ from it in the recording only. */
static size_t count_warnings(const struct comparison *comparison, size_t at)
{
	char **lines = comparison->warnings.lines;
	size_t len = length_of(comparison, lines[at]), nr = 1;

	while (at + nr < comparison->warnings.nr && length_of(comparison, lines[at + nr]) == len &&
	       !strncmp(lines[at], lines[at + nr], len))
		nr++;
	return nr;
}

static void doubts(const struct comparison_view *view)
{
	const struct comparison *comparison = view->comparison;
	struct wrap wrap = { 0 };
	size_t times;

	for (unsigned int i = 0; i < comparison->nr_refusals; i++) {
		wrap__line(view->out, 0, 2, "%s: not compared: %s", comparison->refusals[i].probe,
			   comparison->refusals[i].why);
	}
	for (size_t i = 0; i < comparison->warnings.nr; i += times) {
		times = count_warnings(comparison, i);
		wrap__add(&wrap, "warning");
		if (times > 1)
			wrap__add(&wrap, ", %zu times", times);
		wrap__add(&wrap, ": %s", comparison->warnings.lines[i]);
		if (times > 1)
			wrap__add(&wrap, " and %zu more", times - 1);
		paint(view, "33");
		wrap__print(&wrap, view->out, 0, 2);
		paint(view, "0");
	}
}

static void add_found(struct wrap *wrap, const struct comparison *comparison,
		      enum judge_verdict verdict)
{
	const char *before = " (";

	wrap__add(wrap, "%zu %s", comparison->verdicts[verdict], judge__word(verdict));
	for (size_t i = 0; i < comparison->nr * JUDGE_STATISTICS; i++) {
		const struct comparison_row *row = &comparison->rows[i / JUDGE_STATISTICS];

		if (row->statistics[i % JUDGE_STATISTICS].verdict != verdict)
			continue;
		wrap__add(wrap, "%s%s", before, row->probe->name);
		if (row->probe->nr_metrics > 1)
			wrap__add(wrap, " %s", row->probe->metrics[row->metric].name);
		if (row->key[0])
			wrap__add(wrap, " %s", row->key);
		wrap__add(wrap, " %s", judge__name(i % JUDGE_STATISTICS));
		before = ", ";
	}
	wrap__add(wrap, "%s; ", comparison->verdicts[verdict] ? ")" : "");
}

/* ---- shares of a whole ---- */

static bool same_key(const struct share_change *a, const struct share_change *b)
{
	return a->key == b->key;
}

/* Parts of one key: those that are not too small. */
static void print_shares_of(const struct comparison_view *view, const struct share_change *first,
			    const struct share_change *end)
{
	char name[RUN_NAME], off[TEXT], on[TEXT], difference[TEXT];
	const struct shares_key *key = first->key;

	fputc('\n', view->out);
	paint(view, "1");
	if (key->by == GROUP_WHOLE)
		wrap__line(view->out, 0, 2, "%s: shares of the time that all threads lived",
			   key->probe);
	else
		wrap__line(view->out, 0, 2, "%s, %s %s: shares of the time that its threads lived",
			   key->probe, split__name((unsigned int)key->by), key->name);
	paint(view, "0");
	fprintf(view->out, "%-7s %8s %9s %17s %15s %s\n", "", judge__groups[0], judge__groups[1],
		"difference", "interval", "verdict");
	for (; first < end && first->key == key; first++) {
		const struct judged *judged = &first->judged;

		if (fmax(judged->off, judged->on) < SHARE_LEAST)
			continue;
		fprintf(view->out, "%-7.7s %8s %9s %9s", share_change__part(first, name),
			share(off, judged->off), share(on, judged->on),
			points(difference, judged->on - judged->off));
		compare__print_judged(view->out, judged, view->color);
	}
}

static bool has_verdict(const struct share_change *first, const struct share_change *end)
{
	for (const struct share_change *at = first; at < end && same_key(at, first); at++)
		if (at->judged.verdict != JUDGE_NO_DIFFERENCE)
			return true;
	return false;
}

/* The whole, and each key with a verdict; of the others the names. */
static void print_shares(const struct comparison_view *view)
{
	const struct share_changes *changes = &view->comparison->shares;
	const struct share_change *at = changes->changes, *end = at + changes->nr;
	const char *before = "shares without a difference shown:";
	struct wrap wrap = { 0 };
	size_t others = 0;

	while (at < end) {
		const struct share_change *first = at;

		if (first->key->by == GROUP_WHOLE || has_verdict(first, end)) {
			print_shares_of(view, first, end);
		} else if (others++ < SHOWN_NAMES || view->verbose) {
			wrap__add(&wrap, "%s %s", before, first->key->name);
			before = ",";
		}
		while (at < end && same_key(at, first))
			at++;
	}
	if (others > SHOWN_NAMES && !view->verbose)
		wrap__add(&wrap, " and %zu more", others - SHOWN_NAMES);
	if (wrap.len) {
		fputc('\n', view->out);
		wrap__print(&wrap, view->out, 0, 2);
	}
}

static void add_share(struct wrap *wrap, const char *before, const struct share_change *change)
{
	char part[RUN_NAME], off[TEXT], on[TEXT];

	wrap__add(wrap, "%s%s%s%s %s -> %s", before, change->key->name,
		  change->key->name[0] ? ": " : "", share_change__part(change, part),
		  share(off, change->judged.off), share(on, change->judged.on));
}

/* "shares: 1 more (mysqld: lock 2.0 % -> 31.0 %); 2 less (...); 40 no difference shown" */
static void summarise_shares(const struct comparison_view *view)
{
	static const enum judge_verdict shown[] = { JUDGE_MORE, JUDGE_LESS };
	const struct share_changes *changes = &view->comparison->shares;
	struct wrap wrap = { 0 };

	if (!changes->tested)
		return;
	wrap__add(&wrap, "shares: ");
	for (unsigned int i = 0; i < 2; i++) {
		const char *before = " (";

		wrap__add(&wrap, "%zu %s", changes->verdicts[shown[i]], judge__word(shown[i]));
		for (size_t j = 0; j < changes->nr; j++) {
			if (changes->changes[j].judged.verdict != shown[i])
				continue;
			add_share(&wrap, before, &changes->changes[j]);
			before = ", ";
		}
		wrap__add(&wrap, "%s; ", changes->verdicts[shown[i]] ? ")" : "");
	}
	wrap__add(&wrap, "%zu %s; corrected for %zu tests of their own",
		  changes->verdicts[JUDGE_NO_DIFFERENCE], judge__word(JUDGE_NO_DIFFERENCE),
		  changes->tested);
	wrap__print(&wrap, view->out, 0, 2);
}

static void summary(const struct comparison_view *view)
{
	const struct comparison *comparison = view->comparison;
	struct wrap wrap = { 0 };

	add_found(&wrap, comparison, JUDGE_WORSE);
	add_found(&wrap, comparison, JUDGE_BETTER);
	if (comparison->verdicts[JUDGE_MORE])
		add_found(&wrap, comparison, JUDGE_MORE);
	if (comparison->verdicts[JUDGE_FEWER])
		add_found(&wrap, comparison, JUDGE_FEWER);
	wrap__add(&wrap, "%zu %s", comparison->verdicts[JUDGE_NO_DIFFERENCE],
		  judge__word(JUDGE_NO_DIFFERENCE));
	if (comparison->untested)
		wrap__add(&wrap, "; %zu cannot tell", comparison->untested);
	fputc('\n', view->out);
	wrap__print(&wrap, view->out, 0, 2);
}

void compare__print_text(FILE *out, const struct comparison *comparison, bool color, bool verbose)
{
	const struct comparison_view view = { out, comparison, color, verbose };

	compare__print_verdict(out, comparison, color);
	doubts(&view);
	if (verbose) {
		describe_groups(&view);
		describe_method(&view);
	}
	for (size_t i = 0; i < comparison->nr; i++)
		print_row(&view, &comparison->rows[i]);
	print_shares(&view);
	summary(&view);
	summarise_shares(&view);
}
