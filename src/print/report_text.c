// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <string.h>

#include <core/split.h>
#include <core/units.h>

#include "report.h"
#include "text.h"
#include "wrap.h"

#define TEXT UNITS_TEXT
#define BAR 4
#define MOST_SPANS 8 /* of correlated intervals that are listed */

struct timeline_view {
	FILE *out;
	const struct timeline *timeline;
	unsigned int top;
	bool verbose;
};

static const char *plural(size_t nr)
{
	return nr == 1 ? "" : "s";
}

static double share_of(const struct timeline_cell *cell)
{
	return cell->events ? (double)cell->slow / (double)cell->events : 0;
}

static double largest_share(const struct timeline *timeline, const struct timeline_probe *probe)
{
	double most = 0;

	for (size_t i = 0; i < timeline->nr_lines; i++)
		most = fmax(most, share_of(&probe->lines[i]));
	return most;
}

static const char *interval_text(const struct timeline *timeline, char text[TEXT])
{
	return units__duration(text, timeline->run->interval_ns);
}

static void explain(const struct timeline_view *view)
{
	const struct timeline *timeline = view->timeline;
	struct wrap wrap = { 0 };
	char text[TEXT];

	wrap__add(&wrap, "time line: %zu interval%s of %s per line", timeline->per_line,
		  plural(timeline->per_line), interval_text(timeline, text));
	if (timeline->per_line > 1)
		wrap__add(&wrap, " (--all-intervals: one line each)");
	if (timeline->nr_longer)
		wrap__add(&wrap,
			  "; %zu of %zu took at least 50 %% longer (longest: %s) because "
			  "latscope did not get a CPU in time",
			  timeline->nr_longer, timeline->nr,
			  units__ns(text, (double)timeline->longest_ns));
	wrap__add(&wrap, "; slow: share of a probe's events that are %s",
		  timeline->rules.slow_ns ? "that long" : "among the slowest 1 % of the recording");
	if (timeline->nr_correlated)
		wrap__add(&wrap, "; *: two probes correlate, see below");
	wrap__print(&wrap, view->out, 0, 2);
}

static void headings(const struct timeline_view *view)
{
	const struct timeline *timeline = view->timeline;
	char cell[2 * TEXT], text[TEXT];

	fprintf(view->out, "\n%9s", "");
	for (unsigned int i = 0; i < timeline->nr_probes; i++) {
		const char *name = timeline->probes[i].probe->name;

		fprintf(view->out, i + 1 < timeline->nr_probes ? "  %-21.21s" : "  %.21s", name);
	}
	fprintf(view->out, "\n%9s", "");
	for (unsigned int i = 0; i < timeline->nr_probes; i++) {
		snprintf(cell, sizeof(cell), "slow: >= %s",
			 units__ns(text, (double)timeline->probes[i].slow_ns));
		if (!timeline->probes[i].events)
			strcpy(cell, "no events");
		fprintf(view->out, i + 1 < timeline->nr_probes ? "  %-21.21s" : "  %.21s", cell);
	}
	fprintf(view->out, "\n%9s", "end (s)");
	for (unsigned int i = 0; i < timeline->nr_probes; i++)
		fprintf(view->out, i + 1 < timeline->nr_probes ? "  %7s %8s     " : "  %7s %8s",
			"slow", "p99");
	fputc('\n', view->out);
}

static void print_cell(const struct timeline_view *view, const struct timeline_cell *cell,
		       double most, bool last)
{
	double share = share_of(cell);
	int len = most > 0 ? (int)ceil(share / most * BAR) : 0;
	char slow[TEXT] = "-", p99[TEXT] = "-";

	if (cell->events) {
		units__ratio(slow, share);
		units__ns(p99, (double)cell->p99_ns);
	}
	fprintf(view->out, "  %7s %8s", slow, p99);
	if (len || !last)
		fprintf(view->out, " %.*s", len, "@@@@");
	if (!last)
		fprintf(view->out, "%*s", BAR - len, "");
}

static bool line_is_correlated(const struct timeline *timeline, size_t line)
{
	size_t first = line * timeline->per_line, next = first + timeline->per_line;

	for (size_t i = first; i < next && i < timeline->nr; i++) {
		if (timeline->correlated[i])
			return true;
	}
	return false;
}

static void print_lines(const struct timeline_view *view)
{
	const struct timeline *timeline = view->timeline;
	double most[RUN_PROBES];

	for (unsigned int i = 0; i < timeline->nr_probes; i++)
		most[i] = largest_share(timeline, &timeline->probes[i]);
	for (size_t i = 0; i < timeline->nr_lines; i++) {
		size_t last = (i + 1) * timeline->per_line;

		last = (last < timeline->nr ? last : timeline->nr) - 1;
		fprintf(view->out, "%c%8.3f", line_is_correlated(timeline, i) ? '*' : ' ',
			(double)timeline->end_ns[last] / 1e9);
		for (unsigned int j = 0; j < timeline->nr_probes; j++)
			print_cell(view, &timeline->probes[j].lines[i], most[j],
				   j + 1 == timeline->nr_probes);
		fputc('\n', view->out);
	}
}

/* Prints adjacent intervals as one span. */
static void list_correlated(const struct timeline_view *view, const struct timeline_pair *pair)
{
	const struct timeline *timeline = view->timeline;
	const bool *one = timeline->probes[pair->a].is_worst;
	const bool *other = timeline->probes[pair->b].is_worst;
	size_t spans = 0, next;
	struct wrap wrap = { 0 };

	wrap__add(&wrap,
		  "both are in their worst quarter in %zu of %zu intervals (%.2g expected by "
		  "chance):",
		  pair->both, timeline->nr, pair->by_chance);
	for (size_t i = 0; i < timeline->nr; i = next) {
		for (next = i; next < timeline->nr && one[next] && other[next];)
			next++;
		if (next > i && spans++ < MOST_SPANS)
			wrap__add(&wrap, "%s %.4g-%.4g s", spans > 1 ? "," : "",
				  (double)timeline->start_ns[i] / 1e9,
				  (double)timeline->end_ns[next - 1] / 1e9);
		next += next == i;
	}
	if (spans > MOST_SPANS)
		wrap__add(&wrap, " and %zu more", spans - MOST_SPANS);
	wrap__print(&wrap, view->out, 4, 0);
}

static void print_pair(const struct timeline_view *view, const struct timeline_pair *pair)
{
	const struct timeline *timeline = view->timeline;
	const struct ranks_correlation *found = &pair->found;
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "%s and %s: %s", timeline->probes[pair->a].probe->name,
		  timeline->probes[pair->b].probe->name, timeline__word(pair->verdict));
	if (!isnan(found->low))
		wrap__add(&wrap, ": %+.2f [%+.2f, %+.2f], p = %.2g, %.3g effective intervals",
			  found->rho, found->low, found->high, pair->adjusted, found->effective);
	if (pair->why[0])
		wrap__add(&wrap, ": %s", pair->why);
	wrap__print(&wrap, view->out, 2, 2);
	if (pair->verdict == TIMELINE_POSITIVE)
		list_correlated(view, pair);
}

static void add_pair(struct wrap *wrap, const struct timeline *timeline, unsigned int pair)
{
	wrap__add(wrap, "%s%s and %s", wrap->len ? ", " : "",
		  timeline->probes[timeline->pairs[pair].a].probe->name,
		  timeline->probes[timeline->pairs[pair].b].probe->name);
}

/* Pairs without a correlation: those with one reason share a line. */
static void print_others(const struct timeline_view *view)
{
	const struct timeline *timeline = view->timeline;
	const struct timeline_pair *pairs = timeline->pairs;
	struct wrap wrap = { 0 };
	uint64_t printed = 0;

	for (unsigned int i = 0; i < timeline->nr_pairs; i++) {
		if (printed & 1ULL << i || pairs[i].verdict != TIMELINE_NOT_SHOWN)
			continue;
		for (unsigned int j = i; j < timeline->nr_pairs; j++) {
			if (pairs[j].verdict != TIMELINE_NOT_SHOWN ||
			    strcmp(pairs[i].why, pairs[j].why) != 0)
				continue;
			add_pair(&wrap, timeline, j);
			printed |= 1ULL << j;
		}
		wrap__add(&wrap, ": %s%s%s", timeline__word(TIMELINE_NOT_SHOWN),
			  pairs[i].why[0] ? ": " : "", pairs[i].why);
		wrap__print(&wrap, view->out, 2, 2);
	}
}

static void print_method(const struct timeline_view *view)
{
	const struct timeline *timeline = view->timeline;
	struct wrap wrap = { 0 };
	char confidence[TEXT];

	wrap__add(&wrap, "Correlation over time of the slow shares of two probes");
	if (view->verbose)
		wrap__add(&wrap,
			  ": Spearman's rho over %zu interval%s, with its %s confidence interval, "
			  "which allows for autocorrelation; p corrected for %u pair%s (Holm)",
			  timeline->nr, plural(timeline->nr),
			  units__confidence(confidence, timeline->rules.confidence),
			  timeline->nr_pairs, plural(timeline->nr_pairs));
	fputc('\n', view->out);
	wrap__print(&wrap, view->out, 0, 2);
}

static void print_pairs(const struct timeline_view *view)
{
	const struct timeline *timeline = view->timeline;

	if (!timeline->nr_pairs)
		return;
	print_method(view);
	for (unsigned int i = 0; i < timeline->nr_pairs; i++)
		if (view->verbose || timeline->pairs[i].verdict != TIMELINE_NOT_SHOWN)
			print_pair(view, &timeline->pairs[i]);
	if (!view->verbose)
		print_others(view);
}

static void print_contributor(const struct timeline_view *view,
			      const struct timeline_contributor *contributor,
			      uint64_t slow_correlated, unsigned int head)
{
	const struct timeline_probe *probe = &view->timeline->probes[contributor->probe];
	char text[TEXT];

	text__key_name_cut(view->out, contributor->key->name, head);
	fprintf(view->out, " %9s", units__short_count(text, contributor->events));
	fprintf(view->out, " %9s", units__short_count(text, contributor->slow));
	fprintf(view->out, " %9s", units__share(text, contributor->slow, probe->slow));
	if (view->timeline->nr_correlated)
		fprintf(view->out, " %9s",
			slow_correlated
				? units__share(text, contributor->slow_correlated, slow_correlated)
				: "-");
	fputc('\n', view->out);
}

static const char *name_of_contributor(const void *rows, size_t row)
{
	return ((const struct timeline_contributor *)rows)[row].key->name;
}

/* Prints the contributors of one probe and split; returns the index of the next ones. */
static size_t print_contributors_of(const struct timeline_view *view, size_t first)
{
	const struct timeline *timeline = view->timeline;
	const struct timeline_contributor *contributors = timeline->contributors;
	unsigned int probe = contributors[first].probe, by = contributors[first].key->key.by;
	uint64_t slow_correlated = timeline__slow_correlated(timeline, probe);
	size_t at = first, shown = 0, end = first;
	char title[TEXT_NAME_COLUMNS + 1];
	unsigned int head;

	while (end < timeline->nr_contributors && contributors[end].probe == probe &&
	       contributors[end].key->key.by == by)
		end++;
	head = text__name_head(view->out, name_of_contributor, &contributors[first], end - first);
	snprintf(title, sizeof(title), "%.11s %s", timeline->probes[probe].probe->name,
		 split__name(by));
	fprintf(view->out, "%-*s %9s %9s %9s%s\n", text__name_columns(view->out), title, "events",
		"slow", "of slow", timeline->nr_correlated ? " of slow *" : "");
	for (; at < end; at++)
		if (!view->top || shown++ < view->top)
			print_contributor(view, &contributors[at], slow_correlated, head);
	if (view->top && shown > view->top)
		fprintf(view->out, "%zu more with fewer slow events\n", shown - view->top);
	return at;
}

static void print_contributors(const struct timeline_view *view)
{
	const struct timeline *timeline = view->timeline;
	struct wrap wrap = { 0 };
	bool split = false;

	for (unsigned int i = 0; i < timeline->nr_probes; i++)
		split |= timeline->probes[i].probe->by != 0;
	fputc('\n', view->out);
	if (!split) {
		wrap__add(&wrap, "Top contributors to the slow events were not recorded; use "
				 "latscope record --by process,cgroup,disk");
	} else {
		wrap__add(&wrap, "Top contributors to the slow events; of slow: share of the "
				 "probe's slow events");
		if (timeline->nr_correlated)
			wrap__add(&wrap, "; of slow *: the same in the %zu interval%s marked *",
				  timeline->nr_correlated, plural(timeline->nr_correlated));
	}
	wrap__print(&wrap, view->out, 0, 2);
	for (size_t i = 0; i < timeline->nr_contributors;)
		i = print_contributors_of(view, i);
}

void report__print_timeline(FILE *out, const struct timeline *timeline, unsigned int top,
			    bool verbose)
{
	const struct timeline_view view = { out, timeline, top, verbose };

	if (!timeline->nr || !timeline->nr_probes)
		return;
	/* A single interval makes no time line, but it can have contributors. */
	if (timeline->nr == 1 && !timeline->nr_contributors)
		return;
	fputc('\n', out);
	explain(&view);
	headings(&view);
	print_lines(&view);
	if (timeline->nr > 1)
		print_pairs(&view);
	print_contributors(&view);
}
