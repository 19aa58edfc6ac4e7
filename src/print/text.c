// SPDX-License-Identifier: BSD-2-Clause
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <core/counts.h>
#include <core/hist.h>
#include <core/sanitize.h>
#include <core/split.h>
#include <core/summary.h>
#include <core/units.h>
#include <core/why.h>
#include <host/account.h>

#include "wrap.h"

#define WARN_SHARE 0.001 /* share of events that can hide a p99.9 */
#define USELESS 0.05 /* a difference from the kernel's account that makes all values doubtful */
#define BAR 38

struct text_view {
	FILE *out;
	const struct run *run;
	const struct run_probe *probe;
	const struct text_style *style;
};

static void paint(const struct text_view *view, const char *code)
{
	if (view->style->color)
		fprintf(view->out, "\033[%sm", code);
}

static void heading(const struct text_view *view, unsigned int metric)
{
	const struct run_metric *what = &view->probe->metrics[metric];
	uint64_t events = run__recorded(&view->probe->total.metrics[metric]);
	char window[UNITS_TEXT], count[UNITS_TEXT], rate[UNITS_TEXT];

	paint(view, "1");
	wrap__line(view->out, 0, 2, "%s %s: %s", view->probe->name, what->name, what->what);
	paint(view, "0");
	fprintf(view->out, "  %s, %s event%s, %s\n",
		units__duration(window, view->run->duration_ns), units__count(count, events),
		events == 1 ? "" : "s",
		units__rate(rate, summary__rate(events, view->run->duration_ns)));
}

static void add_count(struct wrap *wrap, const char **before, uint64_t count, const char *name)
{
	char text[UNITS_TEXT];

	if (!count)
		return;
	wrap__add(wrap, "%s%s %s", *before, units__count(text, count), name);
	*before = ", ";
}

/* The counts of run__lost(), except the events that were not seen. */
static const enum lat_count lost_counts[] = { LAT_MISSED_START, LAT_UNMATCHED, LAT_MAP_FULL,
					      LAT_NEGATIVE };

/* Maximum total wait of all these events. */
static void add_lost_time(struct wrap *wrap, bool known, uint64_t ns)
{
	char text[UNITS_TEXT];

	if (known)
		wrap__add(wrap, " (at most %s)", units__ns(text, (double)ns));
	else if (ns)
		wrap__add(wrap, " (at most %s, plus some of unknown time)",
			  units__ns(text, (double)ns));
	else
		wrap__add(wrap, " (time unknown)");
}

static bool is_missing(const struct run_probe *probe, unsigned int metric)
{
	const struct lat_cell *cell = &probe->total.metrics[metric];
	uint64_t lost = run__lost(probe, metric), all = run__recorded(cell) + lost, ns;

	run__lost_ns(probe, metric, &ns);
	return lost && ((double)lost >= WARN_SHARE * (double)all ||
			(double)ns >= WARN_SHARE * (double)(cell->hist.sum_ns + ns));
}

static bool is_mismatch(const struct run_checked *sum)
{
	return sum->known && account__disagrees(sum);
}

bool text__is_doubtful(const struct run_probe *probe)
{
	return probe->nr_metrics && (is_missing(probe, 0) || is_mismatch(&probe->check.events) ||
				     is_mismatch(&probe->check.time));
}

/* Printed before all numbers if the lost events or their time could hide a tail. */
static void missing(const struct text_view *view, unsigned int metric)
{
	const struct lat_cell *cell = &view->probe->total.metrics[metric];
	uint64_t lost = run__lost(view->probe, metric), all = run__recorded(cell) + lost, ns;
	bool known = run__lost_ns(view->probe, metric, &ns);
	uint64_t unseen = view->probe->recursion_missed;
	char share[UNITS_TEXT], count[UNITS_TEXT], of[UNITS_TEXT];
	const char *before = " ";
	struct wrap wrap = { 0 };

	if (!is_missing(view->probe, metric))
		return;
	wrap__add(&wrap, "MISSING: %s%s of the events (%s of %s) were not measured",
		  unseen > cell->counts[LAT_ABANDONED] ? "up to " : "",
		  units__share(share, lost, all), units__count(count, lost), units__count(of, all));
	add_lost_time(&wrap, known, ns);
	wrap__add(&wrap, ":");
	if (unseen > cell->counts[LAT_ABANDONED])
		add_count(&wrap, &before, unseen, "recursion_missed");
	else
		add_count(&wrap, &before, cell->counts[LAT_ABANDONED], "abandoned");
	if (!metric)
		add_count(&wrap, &before, view->probe->no_event, "no_event");
	for (size_t i = 0; i < sizeof(lost_counts) / sizeof(lost_counts[0]); i++)
		add_count(&wrap, &before, cell->counts[lost_counts[i]],
			  counts__name(lost_counts[i]));
	paint(view, "31");
	wrap__print(&wrap, view->out, 2, 2);
	paint(view, "0");
}

static const char *off_text(char text[UNITS_TEXT], const struct run_checked *sum)
{
	double share = account__off_share(sum);

	if (!account__off(sum))
		return "0 %";
	snprintf(text, UNITS_TEXT, "%+.*f %%", fabs(share) < 0.1 ? 2 : 0, 100 * share);
	return text;
}

/* What mostly makes such a difference. */
static const char *likely_cause(bool is_time, bool more)
{
	if (is_time)
		return more ? "stamps that are later than the kernel's"
			    : "waits that reach over an edge of the window, which a longer window "
			      "makes less important";
	return more ? "an account that leaves a CPU or a disk out"
		    : "events for which the kernel, or the hypervisor, ran no program";
}

static void add_consequence(struct wrap *wrap, bool is_time, double share)
{
	if (fabs(share) >= USELESS)
		wrap__add(wrap, "; do not rely on the values below");
	else if (is_time || share > 0)
		wrap__add(wrap, "; sums and means may be off by as much");
	else
		wrap__add(wrap, "; percentiles above p%.4g may be off", 100 + 100 * share);
}

/* Printed before all numbers if the kernel's own account differs. */
static void mismatch(const struct text_view *view, const char *name, const struct run_checked *sum)
{
	bool is_time = !strcmp(name, "time");
	double off = account__off_share(sum);
	char text[UNITS_TEXT], share[UNITS_TEXT];
	struct wrap wrap = { 0 };

	if (!is_mismatch(sum))
		return;
	wrap__add(&wrap, "MISMATCH: %s differ%s from %s by %s (tolerance %s); likely cause: %s",
		  name, is_time ? "s" : "", view->probe->check.source, off_text(text, sum),
		  units__share(share, sum->tolerance, sum->kernel_high ? sum->kernel_high : 1),
		  likely_cause(is_time, off > 0));
	add_consequence(&wrap, is_time, off);
	paint(view, "31");
	wrap__print(&wrap, view->out, 2, 2);
	paint(view, "0");
}

/* The warnings above the histogram of the probe's first metric. */
static void doubts(const struct text_view *view)
{
	missing(view, 0);
	mismatch(view, "events", &view->probe->check.events);
	mismatch(view, "time", &view->probe->check.time);
}

/* All digits if they fit into the column. */
static const char *column_count(char buf[UNITS_TEXT], uint64_t count)
{
	return count < 1000000000000 ? units__count(buf, count) : units__short_count(buf, count);
}

static void bar(const struct text_view *view, uint64_t count, uint64_t most)
{
	unsigned int len = (unsigned int)((double)count / (double)most * BAR + 0.5);

	/* A count too small for a mark gets a dot: it is the tail, which the user looks for. */
	fputs(count && !len ? "|." : "|", view->out);
	for (unsigned int i = count && !len; i < BAR; i++)
		fputc(i < len ? '@' : ' ', view->out);
	fputs("|\n", view->out);
}

static void histogram(const struct text_view *view, const struct lat_hist *hist)
{
	char range[UNITS_TEXT], count[UNITS_TEXT];
	uint64_t buckets[HIST_LOG2_BUCKETS], most = 0;
	int first = -1, top = hist__top_bucket(hist);
	char share[UNITS_TEXT];

	if (top < 0)
		return;
	hist__log2(hist, buckets);
	for (int i = 0; i <= top; i++) {
		most = buckets[i] > most ? buckets[i] : most;
		first = first < 0 && buckets[i] ? i : first;
	}
	fprintf(view->out, "\n  %-12s %15s %8s\n", "us", "events", "share");
	for (int i = first; i <= top; i++) {
		fprintf(view->out, "  %-12s %15s %8s ", units__bucket(range, (unsigned int)i),
			column_count(count, buckets[i]),
			units__share(share, buckets[i], hist__count(hist)));
		bar(view, buckets[i], most);
	}
}

static void percentile_row(const struct text_view *view, unsigned int metric)
{
	const struct lat_hist *hist = &view->probe->total.metrics[metric].hist;
	struct summary summary;
	char value[UNITS_TEXT];

	summary__of(&summary, hist);
	fprintf(view->out, "  %-13.13s", view->probe->metrics[metric].name);
	if (!summary.events) {
		fputs("  no events\n", view->out);
		return;
	}
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		fprintf(view->out, " %8s", units__ns(value, (double)summary.quantiles_ns[i]));
	fprintf(view->out, " %8s", units__ns(value, (double)summary.max_ns));
	fprintf(view->out, " %8s\n", units__ns(value, summary.mean_ns));
}

static bool has_events(const struct run_probe *probe)
{
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		if (run__recorded(&probe->total.metrics[i]))
			return true;
	}
	return false;
}

static void percentiles(const struct text_view *view)
{
	if (!has_events(view->probe))
		return;
	fprintf(view->out, "\n  %-13s", "");
	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++)
		fprintf(view->out, " %8s", summary__labels[i]);
	fprintf(view->out, " %8s %8s\n", "max", "mean");
	for (unsigned int i = 0; i < view->probe->nr_metrics; i++)
		percentile_row(view, i);
}

static void add_difference(struct wrap *wrap, const struct run_probe *probe, unsigned int metric,
			   unsigned int count, const char *what)
{
	uint64_t one = probe->total.metrics[0].counts[count];
	uint64_t other = probe->total.metrics[metric].counts[count];
	char text[UNITS_TEXT];

	if (one != other)
		wrap__add(wrap, "; %s %s",
			  units__count(text, one > other ? one - other : other - one), what);
}

/* The metrics of requests are of one request each, but not every request has all of them. */
static void other_requests(const struct text_view *view)
{
	const struct run_probe *probe = view->probe;
	unsigned int metric = why__words(probe->name)->metric;
	char first[UNITS_TEXT], second[UNITS_TEXT];
	struct wrap wrap = { 0 };
	uint64_t one, other;

	if (!why__words(probe->name)->requests || metric >= probe->nr_metrics)
		return;
	one = run__recorded(&probe->total.metrics[0]);
	other = run__recorded(&probe->total.metrics[metric]);
	if (one == other)
		return;
	wrap__add(&wrap, "%s and %s are not of the same requests: %s and %s",
		  probe->metrics[0].name, probe->metrics[metric].name, units__count(first, one),
		  units__count(second, other));
	add_difference(&wrap, probe, metric, LAT_MISSED_START,
		       "began before latscope was attached");
	add_difference(&wrap, probe, metric, LAT_EXCLUDED, "are the second completion of a flush");
	add_difference(&wrap, probe, metric, LAT_CONTINUED, "are the data of a flush");
	wrap__print(&wrap, view->out, 2, 2);
}

static void tail(const struct text_view *view, const struct lat_hist *hist)
{
	char share[UNITS_TEXT], count[UNITS_TEXT], limit[UNITS_TEXT];

	if (!view->probe->tail_ns || !hist__count(hist))
		return;
	fprintf(view->out, "  tail: %s, %s events of %s or more\n",
		units__share(share, hist->tail, hist__count(hist)), units__count(count, hist->tail),
		units__duration(limit, view->probe->tail_ns));
}

/* Printed together with another count, or used only for the check. */
static bool is_no_remark(unsigned int count)
{
	return count == LAT_IDLE || count == LAT_FILTERED_NS || count == LAT_MISSED_START_NS ||
	       count == LAT_UNMATCHED_NS || count == LAT_KERNEL_NS || count == LAT_EARLY_NS ||
	       (count >= LAT_ERRORS_TIMEOUT && count <= LAT_ERRORS_MEDIUM);
}

/* By kind, in brackets: "3 errors (2 timeout, 1 io)". */
static void add_kinds_of_errors(struct wrap *wrap, const struct lat_cell *cell)
{
	static const char *const kinds[] = { "timeout", "io", "medium" };
	const char *before = " (";
	char text[UNITS_TEXT];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!cell->counts[LAT_ERRORS_TIMEOUT + i])
			continue;
		wrap__add(wrap, "%s%s %s", before,
			  units__count(text, cell->counts[LAT_ERRORS_TIMEOUT + i]), kinds[i]);
		before = ", ";
	}
	if (before[0] == ',')
		wrap__add(wrap, ")");
}

/* The counts that are not in the conservation line. */
static void add_remarks(struct wrap *wrap, const struct lat_cell *cell)
{
	const char *before = "";
	char text[UNITS_TEXT];

	for (unsigned int i = LAT_TERMS; i < LAT_COUNTS; i++) {
		uint64_t count = cell->counts[i];

		if (!count || !counts__name(i) || is_no_remark(i))
			continue;
		if (i == LAT_FALLBACK_NS)
			wrap__add(wrap, " (%s)", units__ns(text, (double)count));
		else if (i == LAT_OTHER_MOST_NS)
			wrap__add(wrap, "%sno key in (other) above %s", before,
				  units__ns(text, (double)count));
		else if (i == LAT_SKEW_NS)
			wrap__add(wrap, " (skew %s)", units__ns(text, (double)count));
		else
			wrap__add(wrap, "%s%s %s", before, units__count(text, count),
				  counts__name(i));
		if (i == LAT_ERRORS)
			add_kinds_of_errors(wrap, cell);
		before = ", ";
	}
}

/* Prints a term and its time. */
static void add_term(struct wrap *wrap, const struct lat_cell *cell, unsigned int term)
{
	char text[UNITS_TEXT];
	uint64_t ns;
	bool known = run__term_ns(cell, term, &ns);

	wrap__add(wrap, " + %s %s", units__count(text, cell->counts[term]), counts__name(term));
	if (term == LAT_FILTERED && known)
		wrap__add(wrap, " (%s)", units__ns(text, (double)ns));
	else if (term != LAT_EXCLUDED && term != LAT_CONTINUED)
		add_lost_time(wrap, known, ns);
}

static void conservation(const struct text_view *view, const struct lat_cell *cell)
{
	int64_t off = run__imbalance(cell);
	struct wrap wrap = { 0 };
	char count[UNITS_TEXT];

	wrap__add(&wrap, "seen %s =", units__count(count, cell->counts[LAT_SEEN]));
	wrap__add(&wrap, " %s recorded", units__count(count, run__recorded(cell)));
	for (unsigned int i = 0; i < LAT_TERMS; i++) {
		if (counts__is_term(i) && cell->counts[i])
			add_term(&wrap, cell, i);
	}
	if (off)
		wrap__add(&wrap, ": DOES NOT BALANCE, %s %s",
			  units__count(count, off < 0 ? -(uint64_t)off : (uint64_t)off),
			  off < 0 ? "counted twice" : "unaccounted for");
	else if (view->probe->recursion_missed)
		wrap__add(&wrap, "; up to %s more were not seen (recursion_missed)",
			  units__count(count, view->probe->recursion_missed));
	else
		wrap__add(&wrap, ": balances");
	if (view->probe->no_event)
		wrap__add(&wrap,
			  "; at least %s more, which the kernel counts, have no event "
			  "(no_event)",
			  units__count(count, view->probe->no_event));
	if (off)
		paint(view, "31");
	wrap__print(&wrap, view->out, 2, 2);
	if (off)
		paint(view, "0");
	if (view->style->all_metrics || cell->counts[LAT_ERRORS])
		add_remarks(&wrap, cell);
	if (wrap.len)
		wrap__print(&wrap, view->out, 4, 2);
}

static void add_in_flight(struct wrap *wrap, const struct run_probe *probe)
{
	const char *least = probe->in_flight.before ? "at least " : "";
	const char *disk = why__words(probe->name)->requests ? probe->in_flight_of : "";
	char text[UNITS_TEXT];

	wrap__add(wrap, "in flight at end: %s", units__count(text, probe->in_flight.count));
	if (!probe->in_flight.count)
		return;
	if (probe->in_flight.before)
		wrap__add(wrap, " (%s%s%s began before latscope was attached)",
			  units__count(text, probe->in_flight.before), *disk ? " on " : "", disk);
	if (probe->in_flight_age_known && probe->in_flight.sum_ns && probe->in_flight.count > 1)
		wrap__add(wrap, ", for %s%s in total", least,
			  units__ns(text, (double)probe->in_flight.sum_ns));
	if (probe->in_flight_age_known)
		wrap__add(wrap, ", the oldest for %s%s", least,
			  units__ns(text, (double)probe->in_flight.oldest_ns));
	else
		wrap__add(wrap, ", ages unknown");
}

/* Prints one limit if the kernel's sum is only a bound. */
static void add_sum(struct wrap *wrap, const char *name, const struct run_checked *sum)
{
	char off[UNITS_TEXT];

	if (!sum->known)
		return;
	if (account__off(sum) || (sum->ours_low && sum->ours_high != UINT64_MAX) ||
	    (!sum->ours_low && !sum->ours_high))
		wrap__add(wrap, "%s %s", name, off_text(off, sum));
	else
		wrap__add(wrap, "%s not %s", name, sum->ours_low ? "more" : "less");
}

static void checked(const struct text_view *view)
{
	const struct run_check *check = &view->probe->check;
	struct wrap wrap = { 0 };

	if (!check->source[0])
		return;
	wrap__add(&wrap, "%schecked against %s: ", check->events.known ? "" : "not ",
		  check->source);
	add_sum(&wrap, "events", &check->events);
	if (check->time.known)
		wrap__add(&wrap, ", ");
	add_sum(&wrap, "time", &check->time);
	if (check->why[0])
		wrap__add(&wrap, "%s%s", check->events.known ? "; " : "", check->why);
	wrap__print(&wrap, view->out, 2, 2);
}

static void accounting(const struct text_view *view)
{
	struct wrap wrap = { 0 };

	conservation(view, &view->probe->total.metrics[0]);
	if (view->style->all_metrics)
		checked(view);
	if (view->run->span_to_ns) /* it is known only at the end of the recording */
		return;
	if (view->style->all_metrics || view->probe->in_flight.count) {
		add_in_flight(&wrap, view->probe);
		wrap__print(&wrap, view->out, 2, 2);
	}
}

static void method(const struct text_view *view)
{
	wrap__line(view->out, 2, 2, "method: %s: %s", view->probe->method, view->probe->mechanism);
}

static void cost_line(const struct text_view *view)
{
	const struct run_probe *probe = view->probe;
	char share[UNITS_TEXT], count[UNITS_TEXT], first[UNITS_TEXT];
	struct wrap wrap = { 0 };
	struct summary_cost cost;

	summary__of_cost(&cost, view->run, probe);
	units__ns(first, (double)probe->cost.timed_ns);
	if (cost.known)
		wrap__add(&wrap,
			  "cost: %s of one CPU: %.0f ns per event, timed in the first %s (%s "
			  "events)",
			  units__ratio(share, cost.cpu_share), cost.ns_per_event, first,
			  units__count(count, probe->cost.timed_events));
	else if (cost.timed)
		wrap__add(&wrap, "cost: not measured: too few events in the first %s", first);
	else
		wrap__add(&wrap, "cost: not measured");
	wrap__print(&wrap, view->out, 2, 2);
}

static void key_row(const struct text_view *view, const struct run_key *key, unsigned int head)
{
	struct summary summary;
	struct lat_hist hist;
	char text[UNITS_TEXT];

	summary__of(&summary, sparse__expand(&key->hist, &hist));
	text__key_name_cut(view->out, key->name, head);
	fprintf(view->out, " %9s", units__short_count(text, summary.events));
	fprintf(view->out, " %7s", units__ns(text, summary.mean_ns));
	fprintf(view->out, " %7s", units__ns(text, (double)summary.quantiles_ns[SUMMARY_P50]));
	fprintf(view->out, " %7s", units__ns(text, (double)summary.quantiles_ns[SUMMARY_P99]));
	fprintf(view->out, " %7s", units__ns(text, (double)summary.max_ns));
	fprintf(view->out, " %8s", units__share(text, summary.tail, summary.events));
	fprintf(view->out, " %7s\n", units__ns(text, (double)summary.sum_ns));
}

static const char *name_of_key(const void *rows, size_t row)
{
	return ((const struct run_key *const *)rows)[row]->name;
}

static void split(const struct text_view *view, enum lat_by by, unsigned int metric)
{
	const struct run_key **ranked;
	size_t shown = 0, hidden = 0;
	unsigned int head;
	ssize_t nr;

	nr = run__ranked_keys(&view->probe->total, by, metric, &ranked);
	if (nr < 0)
		return;
	head = text__name_head(view->out, name_of_key, ranked, (size_t)nr);
	fprintf(view->out, "\n%-*s %9s %7s %7s %7s %7s %8s %7s\n", text__name_columns(view->out),
		split__name(by), "events", "mean", "p50", "p99", "max", "tail", "total");
	for (ssize_t i = 0; i < nr; i++) {
		bool other = ranked[i]->key.id == RUN_OTHER_ID;

		if (view->style->top && shown >= view->style->top && !other) {
			hidden++;
			continue;
		}
		key_row(view, ranked[i], head);
		shown++;
	}
	if (hidden)
		fprintf(view->out, "%zu more with less time\n", hidden);
	free(ranked);
}

static void splits(const struct text_view *view, unsigned int metric)
{
	for (unsigned int by = 0; by < LAT_BY_COUNT; by++) {
		if (view->probe->by & 1U << by)
			split(view, by, metric);
	}
}

/* The further metrics in full; otherwise each is one line among the percentiles. */
static void further_metrics(const struct text_view *view)
{
	for (unsigned int i = 1; i < view->probe->nr_metrics; i++) {
		const struct lat_cell *cell = &view->probe->total.metrics[i];

		fputc('\n', view->out);
		heading(view, i);
		missing(view, i);
		tail(view, &cell->hist);
		splits(view, i);
		histogram(view, &cell->hist);
		conservation(view, cell);
	}
}

/* A further metric that does not balance is always shown. */
static void further_imbalances(const struct text_view *view)
{
	for (unsigned int i = 1; i < view->probe->nr_metrics; i++) {
		if (!run__imbalance(&view->probe->total.metrics[i]))
			continue;
		fprintf(view->out, "  %s:\n", view->probe->metrics[i].name);
		conservation(view, &view->probe->total.metrics[i]);
	}
}

static void table(const struct text_view *view)
{
	const struct run_probe *probe = view->probe;
	char count[UNITS_TEXT], time[UNITS_TEXT];

	wrap__line(view->out, 0, 2, "%s: %s rows in %s", probe->name,
		   units__count(count, table__folded_rows(probe->table)),
		   units__duration(time, view->run->duration_ns));
	table__text_top_k(view->out, probe->table, view->style->top);
	for (unsigned int i = 0; i < RUN_ACTIONS; i++) {
		if (!probe->more[i])
			continue;
		fprintf(view->out, "\n%s_%s\n", probe->name, run__more(i));
		table__text_top_k(view->out, probe->more[i], view->style->top);
	}
	if (probe->more[RUN_ACTIONS])
		actions__text(view->out, probe->more[RUN_ACTIONS]);
	fputc('\n', view->out);
	method(view);
}

void text__probe(FILE *out, const struct run *run, const struct run_probe *probe,
		 const struct text_style *style)
{
	const struct text_view view = { out, run, probe, style };
	const struct lat_hist *hist = &probe->total.metrics[0].hist;

	if (probe->refused[0]) {
		wrap__line(out, 0, 2, "%s: not measured: %s", probe->name, probe->refused);
		return;
	}
	if (!probe->nr_metrics && probe->table) {
		table(&view);
		return;
	}
	heading(&view, 0);
	doubts(&view);
	if (!probe->why) /* else it comes with the parts */
		coverage_text__probe(out, run, probe);
	percentiles(&view);
	other_requests(&view);
	tail(&view, hist);
	splits(&view, 0);
	histogram(&view, hist);
	accounting(&view);
	if (style->all_metrics) {
		method(&view);
		cost_line(&view);
		further_metrics(&view);
	} else {
		further_imbalances(&view);
	}
}

static void workload(FILE *out, const struct run *run)
{
	int status = run->workload_status;
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "workload: %s", run->workload);
	if (status == RUN_NOT_ENDED)
		wrap__add(&wrap, run->running ? ": still running" : ": exit status unknown");
	else if (WIFSIGNALED(status))
		wrap__add(&wrap, ": killed by signal %d", WTERMSIG(status));
	else if (WIFEXITED(status))
		wrap__add(&wrap, ": exit status %d", WEXITSTATUS(status));
	if (run->workload_uncounted)
		wrap__add(&wrap, "; unknown whether its processes outlived the window: /proc hides "
				 "them");
	else if (run->workload_outlived)
		wrap__add(&wrap, "; %llu process%s that it started outlived the window",
			  (unsigned long long)run->workload_outlived,
			  run->workload_outlived == 1 ? "" : "es");
	wrap__print(&wrap, out, 0, 2);
}

void text__run(FILE *out, const struct run *run)
{
	struct wrap wrap = { 0 };

	if (run->workload)
		workload(out, run);
	if (run->filter) {
		wrap__line(out, 0, 2, "only: %s", run->filter);
	}
	coverage_text__cgroup(out, run);
	for (unsigned int i = 0; i < run->nr_labels; i++)
		wrap__add(&wrap, "%s%s=%s", i ? ", " : "labels: ", run->labels[i].key,
			  run->labels[i].value);
	if (wrap.len)
		wrap__print(&wrap, out, 0, 2);
}

static void print_span(FILE *out, const struct run *run)
{
	if (!run->span_to_ns)
		return;
	wrap__line(
		out, 0, 2,
		"part of the recording: %.6g s to %.6g s; what is known only of the whole is left "
		"out: waits in flight, recursion_missed, the kernel's account",
		(double)run->span_from_ns / 1e9, (double)run->span_to_ns / 1e9);
}

void text__incomplete(FILE *out, const struct run *run)
{
	print_span(out, run);
	if (run->complete)
		return;
	wrap__line(
		out, 0, 2,
		"incomplete: the recording %s; the data ends with the last complete interval, and "
		"the number of waits in flight is unknown",
		run->running ? "is still running" : "was cut off");
}
