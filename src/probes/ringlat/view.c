// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include <core/units.h>
#include <print/wrap.h>

#include "view.h"

#define BAR 38
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void cycles_column(FILE *out, double value)
{
	fprintf(out, " %8.*f", value == (double)(uint64_t)value || value >= 1e5 ? 0 : 1, value);
}

static void ns_column(FILE *out, double cycles, uint64_t tsc_khz)
{
	double ns = ring__ns(cycles, tsc_khz);
	char text[UNITS_TEXT];

	if (ns < 99.95)
		snprintf(text, sizeof(text), "%.1f ns", ns);
	else
		units__ns(text, ns);
	fprintf(out, " %8s", text);
}

static void summary_rows(FILE *out, const struct ring_result *result,
			 const struct ring_count *count, unsigned int way)
{
	struct ring_summary summary;

	ring_summary__of(&summary, &count->ways[way], ring_count__baseline(result, count, way));
	const double columns[] = { summary.min, summary.p50, summary.mean,
				   summary.p99, summary.max, summary.baseline };

	fprintf(out, "  %-10s %-6s", ring_count__way(count, way), "cycles");
	for (size_t i = 0; i < COUNT_OF(columns); i++)
		cycles_column(out, columns[i]);
	fprintf(out, "\n  %-10s %-6s", "", "time");
	for (size_t i = 0; i < COUNT_OF(columns); i++)
		ns_column(out, columns[i], result->tsc_khz);
	fputc('\n', out);
}

static void account(FILE *out, const struct ring_count *count)
{
	struct wrap wrap = { 0 };
	char text[UNITS_TEXT];

	wrap__add(&wrap, "%s attempted =", units__count(text, count->attempted));
	wrap__add(&wrap, " %s kept", units__count(text, count->kept));
	for (unsigned int i = RING_KEPT + 1; i < RING_VERDICTS; i++) {
		if (count->misses[i])
			wrap__add(&wrap, " + %s %s", units__count(text, count->misses[i]),
				  ring_verdict__name(i));
	}
	if (count->vm_exits)
		wrap__add(&wrap, ", with %s VM exits", units__count(text, count->vm_exits));
	wrap__print(&wrap, out, 2, 2);
}

/* Prints the buckets of a histogram: eight per power of two. */
struct row {
	uint64_t low;
	uint64_t high;
	uint64_t count;
};

static uint64_t row_of(uint64_t cycles)
{
	uint64_t step = 1;

	while (cycles / step >= 16)
		step *= 2;
	return cycles / step * step;
}

static uint64_t row_after(uint64_t low)
{
	uint64_t step = 1;

	while (low / step >= 16)
		step *= 2;
	return low + step;
}

static void histogram_row(FILE *out, const struct row *row, uint64_t total, uint64_t most)
{
	unsigned int len = (unsigned int)((double)row->count / (double)most * BAR + 0.5);
	char range[2 * UNITS_TEXT], count[UNITS_TEXT], share[UNITS_TEXT];

	snprintf(range, sizeof(range), "[%llu, %llu)", (unsigned long long)row->low,
		 (unsigned long long)row->high);
	fprintf(out, "  %-16s %11s %8s |", range, units__short_count(count, row->count),
		units__share(share, row->count, total));
	for (unsigned int i = 0; i < len; i++)
		fputc('@', out);
	fputs(len ? "\n" : ".\n", out);
}

/* Calls the function for every row, in order. A row is complete when the next one starts. */
static void each_row(const struct ring_count *count, unsigned int way, uint64_t baseline,
		     void (*take)(void *to, const struct row *row), void *to)
{
	struct ring_bucket bucket = { 0 };
	struct row row = { 0 };

	while (ring_hist__next(&count->ways[way], &bucket)) {
		uint64_t low = bucket.low > baseline ? bucket.low - baseline : 0;

		if (row.count && low >= row.high) {
			take(to, &row);
			row.count = 0;
		}
		if (!row.count) {
			row.low = row_of(low);
			row.high = row_after(row.low);
		}
		row.count += bucket.count;
	}
	if (row.count)
		take(to, &row);
}

struct histogram_view {
	FILE *out;
	uint64_t total, most;
};

static void take_most(void *to, const struct row *row)
{
	struct histogram_view *view = to;

	view->most = row->count > view->most ? row->count : view->most;
}

static void take_row(void *to, const struct row *row)
{
	struct histogram_view *view = to;

	histogram_row(view->out, row, view->total, view->most);
}

static void histogram_of(FILE *out, const struct ring_result *result,
			 const struct ring_count *count, unsigned int way)
{
	struct histogram_view view = { .out = out, .total = count->ways[way].count };
	uint64_t baseline = (uint64_t)ring_count__baseline(result, count, way);

	fprintf(out, "\n  %-16s %11s %8s\n", ring_count__way(count, way), "crossings", "share");
	each_row(count, way, baseline, take_most, &view);
	each_row(count, way, baseline, take_row, &view);
}

static void event(FILE *out, const struct ring_result *result, const struct ring_count *count,
		  bool histogram)
{
	static const char *const heads[] = { "min", "median", "mean", "p99", "max", "baseline" };

	fputc('\n', out);
	wrap__line(out, 0, 2, "%s: %s", count->event->name, count->event->what);
	fprintf(out, "  %-10s %-6s", "", "");
	for (size_t i = 0; i < COUNT_OF(heads); i++)
		fprintf(out, " %8s", heads[i]);
	fputc('\n', out);
	for (unsigned int way = 0; way < count->nr_ways; way++)
		summary_rows(out, result, count, way);
	account(out, count);
	for (unsigned int way = 0; histogram && way < count->nr_ways; way++)
		histogram_of(out, result, count, way);
}

static void head(FILE *out, const struct ring_result *result)
{
	const struct ring_where *where = &result->where;
	char text[RING_MITIGATIONS_TEXT];

	wrap__line(out, 0, 2, "ringlat by %s: %s", result->method->name, result->method->mechanism);
	wrap__line(out, 2, 2, "%s: %s", ring_place__name(where->place), where->evidence);
	wrap__line(out, 2, 2, "%s, microcode %s, CPU %d; TSC %.3f MHz; cycles below are TSC ticks",
		   where->cpu_model, where->microcode, result->cpu, (double)result->tsc_khz / 1000);
	ring_where__mitigations(where, text);
	wrap__line(out, 2, 2, "the kernel has %s", text);
	if (result->interrupted)
		fputs("  interrupted: the results cover the crossings made until then\n", out);
}

void ringlat__print_text(FILE *out, const struct ring_result *result, bool histogram)
{
	head(out, result);
	if (result->method->gross)
		ringlat__print_xperf(out, result);
	for (unsigned int i = 0; i < result->nr_events; i++)
		event(out, result, &result->events[i], histogram);
}
