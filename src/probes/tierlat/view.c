// SPDX-License-Identifier: BSD-2-Clause
#include "view.h"

#include <math.h>
#include <string.h>

#include <core/units.h>
#include <print/probe_view.h>
#include <print/streams.h>
#include <print/text.h>
#include <print/wrap.h>

#include "columns.h"

#define CELL 12

static const char *number(char cell[CELL], const struct table_value *value, const char *format,
			  double scale)
{
	if (!value->known)
		snprintf(cell, CELL, "-");
	else
		snprintf(cell, CELL, format, value->real * scale);
	return cell;
}

/* Four digits, with a prefix for thousands, millions ... */
static const char *scaled(char cell[CELL], const struct table_value *value)
{
	static const char *const prefixes[] = { "", " k", " M", " G", " T" };
	double left = value->known ? value->real : 0;
	unsigned int i = 0;

	if (!value->known) {
		snprintf(cell, CELL, "-");
		return cell;
	}
	for (; left >= 999.5 && i < 4; i++)
		left /= 1000;
	snprintf(cell, CELL, i ? "%.3g%s" : "%.0f%s", left, prefixes[i]);
	return cell;
}

/* In ns, or in clocks if only these are known. */
static const char *latency(char cell[CELL], const struct table_value *ns,
			   const struct table_value *clocks)
{
	if (!ns->known)
		return number(cell, clocks, "%.0f clk", 1);
	return number(cell, ns, ns->real < 999.95 ? "%.1f ns" : "%.0f ns", 1);
}

static const struct table_value unknown;

static int live__open(struct writer *writer, const struct run *run)
{
	(void)writer;
	(void)run;
	printf("%10s %6s %-11s %9s %7s %7s %8s %8s %6s\n", "time", "socket", "tier", "in flight",
	       "reads/s", "B/s", "latency", "ewma", "MHz");
	streams__flush();
	return 0;
}

static void row(FILE *out, const struct table *table, size_t at)
{
	const struct table_value socket = table__value(table, at, TIER_SOCKET);
	const struct table_value name = table__value(table, at, TIER_NAME);
	const struct table_value in_flight = table__value(table, at, TIER_OUTSTANDING);
	const struct table_value rate = table__value(table, at, TIER_RATE);
	const struct table_value bandwidth = table__value(table, at, TIER_BANDWIDTH);
	const struct table_value ns = table__value(table, at, TIER_LATENCY);
	const struct table_value clocks = table__value(table, at, TIER_LATENCY_CLOCKS);
	const struct table_value ewma = table__value(table, at, TIER_LATENCY_EWMA);
	const struct table_value clock = table__value(table, at, TIER_CLOCK);
	char cells[6][CELL];

	fprintf(out, "%8.3f s %6lld %-11.11s %9s %7s %7s %8s %8s %6s\n",
		(double)table__time_ns(table, at) / 1e9, (long long)socket.integer, name.text,
		number(cells[0], &in_flight, "%.2f", 1), scaled(cells[1], &rate),
		scaled(cells[2], &bandwidth), latency(cells[3], &ns, &clocks),
		latency(cells[4], &ewma, &unknown), number(cells[5], &clock, "%.0f", 1));
}

struct decision {
	double p, target, shift, closed;
	const char *tier;
};

static void print_decision(FILE *out, const struct decision *decision, const char *way)
{
	fprintf(out, "p %.3f, ", decision->p);
	if (decision->shift == 0)
		fprintf(out, "stay\n");
	else
		fprintf(out, "target %.3f, %.1f %% (%.1f) %s %.11s\n", decision->target,
			fabs(decision->shift) * 100, fabs(decision->closed) * 100, way,
			decision->tier);
}

static void decide(FILE *out, const struct table *table, size_t at)
{
	const struct decision decision = {
		table__value(table, at, TIER_P).real,
		table__value(table, at, TIER_P_TARGET).real,
		table__value(table, at, TIER_SHIFT).real,
		table__value(table, at, TIER_SHIFT_CLOSED).real,
		table__value(table, at, TIER_MOVE_TO).text,
	};

	if (!table__value(table, at, TIER_P).known)
		return;
	fprintf(out, "%10s %6lld Colloid: ", "",
		(long long)table__value(table, at, TIER_SOCKET).integer);
	print_decision(out, &decision, "to");
}

static void print_rows(const struct table *table)
{
	for (size_t at = 0; at < table__rows(table); at++) {
		if (!tier_rows__is_raw(table, at))
			row(stdout, table, at);
	}
	for (size_t at = 0; at < table__rows(table); at++)
		decide(stdout, table, at);
}

static int live__interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval)
{
	(void)writer;
	(void)interval;
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		if (run->probes[i].table)
			print_rows(run->probes[i].table);
		if (run->probes[i].more[RUN_ACTIONS])
			actions__text_rows(stdout, run->probes[i].more[RUN_ACTIONS]);
	}
	streams__flush();
	return 0;
}

const struct writer_ops writer_live_tierlat = {
	.name = "live_tierlat",
	.open = live__open,
	.interval = live__interval,
};

static struct table_value known(const struct table_aggregate *aggregate, double value)
{
	return (struct table_value){ .known = aggregate->rows, .kind = TABLE_REAL, .real = value };
}

/* Latency in ns, or in clocks if only these are known. */
static const struct table_aggregate *range_of(const struct table *table, size_t key)
{
	const struct table_aggregate *ns = table__aggregate(table, key, TIER_LATENCY);

	return ns->rows ? ns : table__aggregate(table, key, TIER_LATENCY_CLOCKS);
}

static void key(FILE *out, const struct table *table, size_t at)
{
	const struct table_value name = table__key(table, at, TIER_NAME);
	const struct table_value in_flight = table__mean(table, at, TIER_OUTSTANDING);
	const struct table_value rate = table__mean(table, at, TIER_RATE);
	const struct table_value bandwidth = table__mean(table, at, TIER_BANDWIDTH);
	const struct table_value ns = table__mean(table, at, TIER_LATENCY);
	const struct table_value clocks = table__mean(table, at, TIER_LATENCY_CLOCKS);
	const struct table_aggregate *ewma = table__aggregate(table, at, TIER_LATENCY_EWMA);
	const struct table_aggregate *range = range_of(table, at);
	const struct table_value last = known(ewma, ewma->last), low = known(range, range->low),
				 high = known(range, range->high);
	bool in_ns = ns.known;
	char cells[7][CELL];

	fprintf(out, "%6lld %-11.11s %9s %7s %7s %8s %8s %8s %8s\n",
		(long long)table__key(table, at, TIER_SOCKET).integer, name.text,
		number(cells[0], &in_flight, "%.2f", 1), scaled(cells[1], &rate),
		scaled(cells[2], &bandwidth), latency(cells[3], &ns, &clocks),
		latency(cells[4], in_ns ? &low : &unknown, &low),
		latency(cells[5], in_ns ? &high : &unknown, &high),
		latency(cells[6], &last, &unknown));
}

static void head(FILE *out)
{
	fprintf(out, "%6s %-11s %9s %7s %7s %8s %8s %8s %8s\n", "socket", "tier", "in flight",
		"reads/s", "B/s", "latency", "lowest", "highest", "ewma");
}

/* Lists what the means do not include. */
static void gap(FILE *out, const struct table *table, size_t at)
{
	const struct table_aggregate *all = table__aggregate(table, at, TIER_BOXES_USED);
	const struct table_aggregate *lost = table__aggregate(table, at, TIER_BOXES_LOST);
	uint64_t rows = range_of(table, at)->rows;
	struct wrap wrap = { 0 };

	if (rows == all->rows && !(lost->rows && lost->high > 0))
		return;
	wrap__add(&wrap, "socket %lld, %s: latency known in %llu of %llu intervals",
		  (long long)table__key(table, at, TIER_SOCKET).integer,
		  table__key(table, at, TIER_NAME).text, (unsigned long long)rows,
		  (unsigned long long)all->rows);
	if (lost->rows && lost->high > 0)
		wrap__add(&wrap,
			  "; up to %.0f boxes of the socket without a count, %.0f at the end",
			  lost->high, lost->last);
	wrap__print(&wrap, out, 2, 2);
}

/* Prints the last decision. */
static bool last_decision(FILE *out, const struct table *table, size_t at)
{
	const struct decision decision = {
		table__aggregate(table, at, TIER_P)->last,
		table__aggregate(table, at, TIER_P_TARGET)->last,
		table__aggregate(table, at, TIER_SHIFT)->last,
		table__aggregate(table, at, TIER_SHIFT_CLOSED)->last,
		table__key(table, at, TIER_NAME).text,
	};

	if (!table__aggregate(table, at, TIER_P)->rows)
		return false;
	fprintf(out, "%6lld Colloid at the end: ",
		(long long)table__key(table, at, TIER_SOCKET).integer);
	print_decision(out, &decision, decision.shift > 0 ? "to" : "out of");
	return true;
}

static void explain_decision(FILE *out)
{
	wrap__line(out, 7, 0,
		   "p and its target are shares of the requests. The shift is relative to p, "
		   "a moving average, and at most --max-shift per interval.");
}

/* The means over the window. */
static void summary(FILE *out, const struct run *run, const struct run_probe *probe)
{
	char window[UNITS_TEXT], interval[UNITS_TEXT];
	bool decided = false;

	wrap__line(out, 0, 2, "%s: loaded latency of demand reads by tier, %s in intervals of %s",
		   probe->name, units__duration(window, run->duration_ns),
		   units__duration(interval, run->interval_ns));
	head(out);
	for (size_t at = 0; at < table__keys(probe->table); at++)
		key(out, probe->table, at);
	for (size_t at = 0; at < table__keys(probe->table); at++)
		decided |= last_decision(out, probe->table, at);
	if (decided)
		explain_decision(out);
	for (size_t at = 0; at < table__keys(probe->table); at++)
		gap(out, probe->table, at);
	if (probe->more[RUN_ACTIONS])
		actions__text(out, probe->more[RUN_ACTIONS]);
	fputc('\n', out);
	wrap__line(out, 2, 2, "method: %s: %s", probe->method, probe->mechanism);
}

static bool knows(const struct run_probe *probe)
{
	return probe->table && !strcmp(probe->name, "tierlat");
}

static int print_window(FILE *out, const struct run *run, const struct run_probe *probe,
			const struct text_style *style)
{
	summary(out, run, probe);
	if (probe->more[RUN_CHA])
		tierlat_print__chas(out, probe->more[RUN_CHA]);
	return probe->more[RUN_PAGES]
		       ? tierlat_print__pages(out, probe->more[RUN_PAGES], style->top)
		       : 0;
}

const struct probe_view tierlat_view = {
	.knows = knows,
	.print = print_window,
	.live = &writer_live_tierlat,
};
