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
#define MOST_SPANS 8 /* that the intervals which are together are listed in */

struct page {
	FILE *out;
	const struct timeline *timeline;
	unsigned int top;
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

static void explain(const struct page *page)
{
	const struct timeline *timeline = page->timeline;
	struct wrap wrap = { 0 };
	char text[TEXT];

	wrap__add(&wrap, "time line: a line is %zu interval%s of %s", timeline->per_line,
		  plural(timeline->per_line), interval_text(timeline, text));
	if (timeline->per_line > 1)
		wrap__add(&wrap, " (--all-intervals: each has its own)");
	if (timeline->nr_longer)
		wrap__add(&wrap,
			  "; %zu of %zu took longer by half or more, the longest %s, "
			  "as latscope got no CPU in time",
			  timeline->nr_longer, timeline->nr,
			  units__ns(text, (double)timeline->longest_ns));
	wrap__add(&wrap, "; slow: share of a module's events that are %s",
		  timeline->rules.slow_ns ? "that long" : "among the slowest 1 % of the recording");
	if (timeline->nr_together)
		wrap__add(&wrap, "; *: two modules rise together, see below");
	wrap__print(&wrap, page->out, 0, 2);
}

static void headings(const struct page *page)
{
	const struct timeline *timeline = page->timeline;
	char cell[2 * TEXT], text[TEXT];

	fprintf(page->out, "\n%9s", "");
	for (unsigned int i = 0; i < timeline->nr_probes; i++) {
		const char *name = timeline->probes[i].probe->name;

		fprintf(page->out, i + 1 < timeline->nr_probes ? "  %-21.21s" : "  %.21s", name);
	}
	fprintf(page->out, "\n%9s", "");
	for (unsigned int i = 0; i < timeline->nr_probes; i++) {
		snprintf(cell, sizeof(cell), "slow: from %s",
			 units__ns(text, (double)timeline->probes[i].slow_ns));
		if (!timeline->probes[i].events)
			strcpy(cell, "no events");
		fprintf(page->out, i + 1 < timeline->nr_probes ? "  %-21.21s" : "  %.21s", cell);
	}
	fprintf(page->out, "\n%9s", "to s");
	for (unsigned int i = 0; i < timeline->nr_probes; i++)
		fprintf(page->out, i + 1 < timeline->nr_probes ? "  %7s %8s     " : "  %7s %8s",
			"slow", "p99");
	fputc('\n', page->out);
}

static void print_cell(const struct page *page, const struct timeline_cell *cell, double most,
		       bool last)
{
	double share = share_of(cell);
	int len = most > 0 ? (int)ceil(share / most * BAR) : 0;
	char slow[TEXT] = "-", p99[TEXT] = "-";

	if (cell->events) {
		units__ratio(slow, share);
		units__ns(p99, (double)cell->p99_ns);
	}
	fprintf(page->out, "  %7s %8s", slow, p99);
	if (len || !last)
		fprintf(page->out, " %.*s", len, "@@@@");
	if (!last)
		fprintf(page->out, "%*s", BAR - len, "");
}

static bool line_is_together(const struct timeline *timeline, size_t line)
{
	size_t first = line * timeline->per_line, next = first + timeline->per_line;

	for (size_t i = first; i < next && i < timeline->nr; i++) {
		if (timeline->together[i])
			return true;
	}
	return false;
}

static void print_lines(const struct page *page)
{
	const struct timeline *timeline = page->timeline;
	double most[RUN_PROBES];

	for (unsigned int i = 0; i < timeline->nr_probes; i++)
		most[i] = largest_share(timeline, &timeline->probes[i]);
	for (size_t i = 0; i < timeline->nr_lines; i++) {
		size_t last = (i + 1) * timeline->per_line;

		last = (last < timeline->nr ? last : timeline->nr) - 1;
		fprintf(page->out, "%c%8.3f", line_is_together(timeline, i) ? '*' : ' ',
			(double)timeline->end_ns[last] / 1e9);
		for (unsigned int j = 0; j < timeline->nr_probes; j++)
			print_cell(page, &timeline->probes[j].lines[i], most[j],
				   j + 1 == timeline->nr_probes);
		fputc('\n', page->out);
	}
}

/* Intervals in a row are one span. */
static void list_together(const struct page *page, const struct timeline_pair *pair)
{
	const struct timeline *timeline = page->timeline;
	const bool *one = timeline->probes[pair->a].is_worst;
	const bool *other = timeline->probes[pair->b].is_worst;
	size_t spans = 0, next;
	struct wrap wrap = { 0 };

	wrap__add(&wrap,
		  "in %zu of %zu intervals both are in their worst quarter, by chance it would be "
		  "%.2g:",
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
		wrap__add(&wrap, " and %zu more times", spans - MOST_SPANS);
	wrap__print(&wrap, page->out, 4, 0);
}

static void print_pair(const struct page *page, const struct timeline_pair *pair)
{
	const struct timeline *timeline = page->timeline;
	const struct ranks_correlation *found = &pair->found;
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "%s and %s: %s", timeline->probes[pair->a].probe->name,
		  timeline->probes[pair->b].probe->name, timeline__word(pair->verdict));
	if (!isnan(found->low))
		wrap__add(&wrap, ": %+.2f [%+.2f, %+.2f], p = %.2g, of %.3g effective intervals",
			  found->rho, found->low, found->high, pair->adjusted, found->effective);
	if (pair->why[0])
		wrap__add(&wrap, ": %s", pair->why);
	wrap__print(&wrap, page->out, 2, 2);
	if (pair->verdict == TIMELINE_TOGETHER)
		list_together(page, pair);
}

static void print_pairs(const struct page *page)
{
	const struct timeline *timeline = page->timeline;
	struct wrap wrap = { 0 };

	if (!timeline->nr_pairs)
		return;
	wrap__add(&wrap,
		  "Do the slow ones of two modules come in the same intervals? Spearman's rank "
		  "correlation over %zu interval%s, with its %g %% interval, which allows for "
		  "neighbours being alike; p for %u pair%s (Holm)",
		  timeline->nr, plural(timeline->nr), timeline->rules.confidence * 100,
		  timeline->nr_pairs, plural(timeline->nr_pairs));
	fputc('\n', page->out);
	wrap__print(&wrap, page->out, 0, 2);
	for (unsigned int i = 0; i < timeline->nr_pairs; i++)
		print_pair(page, &timeline->pairs[i]);
}

static void print_carrier(const struct page *page, const struct timeline_carrier *carrier,
			  uint64_t slow_together)
{
	const struct timeline_probe *probe = &page->timeline->probes[carrier->probe];
	char text[TEXT];

	text__key_name(page->out, carrier->key->name);
	fprintf(page->out, " %9s", units__short_count(text, carrier->events));
	fprintf(page->out, " %9s", units__short_count(text, carrier->slow));
	fprintf(page->out, " %9s", units__share(text, carrier->slow, probe->slow));
	if (page->timeline->nr_together)
		fprintf(page->out, " %9s",
			slow_together ? units__share(text, carrier->slow_together, slow_together)
				      : "-");
	fputc('\n', page->out);
}

/* Those of one module and split; returns where the next ones begin. */
static size_t print_carriers_of(const struct page *page, size_t first)
{
	const struct timeline *timeline = page->timeline;
	const struct timeline_carrier *carriers = timeline->carriers;
	unsigned int probe = carriers[first].probe, by = carriers[first].key->key.by;
	uint64_t slow_together = timeline__slow_together(timeline, probe);
	size_t at = first, shown = 0;
	char title[TEXT_NAME_COLUMNS + 1];

	snprintf(title, sizeof(title), "%.11s %s", timeline->probes[probe].probe->name,
		 split__name(by));
	fprintf(page->out, "%-*s %9s %9s %9s%s\n", TEXT_NAME_COLUMNS, title, "events", "slow",
		"of slow", timeline->nr_together ? "  together" : "");
	for (; at < timeline->nr_carriers; at++) {
		if (carriers[at].probe != probe || carriers[at].key->key.by != by)
			break;
		if (!page->top || shown++ < page->top)
			print_carrier(page, &carriers[at], slow_together);
	}
	if (page->top && shown > page->top)
		fprintf(page->out, "%zu more, with fewer slow ones\n", shown - page->top);
	return at;
}

static void print_carriers(const struct page *page)
{
	const struct timeline *timeline = page->timeline;
	struct wrap wrap = { 0 };
	bool split = false;

	for (unsigned int i = 0; i < timeline->nr_probes; i++)
		split |= timeline->probes[i].probe->by != 0;
	fputc('\n', page->out);
	if (!split) {
		wrap__add(&wrap, "Whose the slow ones are was not recorded; --by "
				 "process,cgroup,disk of latscope record does so");
	} else {
		wrap__add(&wrap, "Whose the slow ones are: of slow: share of the module's slow "
				 "events");
		if (timeline->nr_together)
			wrap__add(&wrap, "; together: the same within the %zu interval%s marked *",
				  timeline->nr_together, plural(timeline->nr_together));
	}
	wrap__print(&wrap, page->out, 0, 2);
	for (size_t i = 0; i < timeline->nr_carriers;)
		i = print_carriers_of(page, i);
}

void report__print_timeline(FILE *out, const struct timeline *timeline, unsigned int top)
{
	const struct page page = { out, timeline, top };

	if (!timeline->nr || !timeline->nr_probes)
		return;
	/* One interval is no line in time: at most it has somebody whose the slow ones are. */
	if (timeline->nr == 1 && !timeline->nr_carriers)
		return;
	fputc('\n', out);
	explain(&page);
	headings(&page);
	print_lines(&page);
	if (timeline->nr > 1)
		print_pairs(&page);
	print_carriers(&page);
}
