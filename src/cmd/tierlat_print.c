// SPDX-License-Identifier: BSD-2-Clause
#include "tierlat_print.h"

#include <math.h>
#include <string.h>

#include <base/units.h>
#include <base/wrap.h>
#include <tier/rows.h>

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

/* Four digits and what they are thousands, millions ... of. */
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

void tierlat_print__head(FILE *out)
{
	fprintf(out, "%10s %6s %-11s %7s %8s %8s %8s %8s %6s\n", "time", "socket", "tier", "open",
		"req/s", "B/s", "latency", "ewma", "MHz");
}

static void row(FILE *out, const struct table *table, size_t at)
{
	const struct table_value socket = table__value(table, at, TIER_SOCKET);
	const struct table_value name = table__value(table, at, TIER_NAME);
	const struct table_value open = table__value(table, at, TIER_OUTSTANDING);
	const struct table_value rate = table__value(table, at, TIER_RATE);
	const struct table_value bandwidth = table__value(table, at, TIER_BANDWIDTH);
	const struct table_value latency = table__value(table, at, TIER_LATENCY);
	const struct table_value ewma = table__value(table, at, TIER_LATENCY_EWMA);
	const struct table_value clock = table__value(table, at, TIER_CLOCK);
	char cells[6][CELL];

	fprintf(out, "%8.3f s %6lld %-11.11s %7s %8s %8s %8s %8s %6s\n",
		(double)table__time_ns(table, at) / 1e9, (long long)socket.integer, name.text,
		number(cells[0], &open, "%.2f", 1), scaled(cells[1], &rate),
		scaled(cells[2], &bandwidth), number(cells[3], &latency, "%.1f ns", 1),
		number(cells[4], &ewma, "%.1f ns", 1), number(cells[5], &clock, "%.0f", 1));
}

static void decision(FILE *out, const struct table *table, size_t at)
{
	const struct table_value p = table__value(table, at, TIER_P);
	const struct table_value low = table__value(table, at, TIER_P_LO);
	const struct table_value high = table__value(table, at, TIER_P_HI);
	const struct table_value shift = table__value(table, at, TIER_SHIFT);
	const struct table_value closed = table__value(table, at, TIER_SHIFT_CLOSED);
	const struct table_value to = table__value(table, at, TIER_MOVE_TO);

	if (!p.known)
		return;
	fprintf(out, "%10s %6lld Colloid: p %.3f in %.3f-%.3f, ", "",
		(long long)table__value(table, at, TIER_SOCKET).integer, p.real, low.real,
		high.real);
	if (shift.real == 0)
		fprintf(out, "stay\n");
	else
		fprintf(out, "%.1f %% (%.1f) to %.11s\n", fabs(shift.real) * 100,
			fabs(closed.real) * 100, to.text);
}

void tierlat_print__rows(FILE *out, const struct table *table)
{
	for (size_t at = 0; at < table__rows(table); at++)
		row(out, table, at);
	for (size_t at = 0; at < table__rows(table); at++)
		decision(out, table, at);
}

static struct table_value mean(const struct table *table, size_t key, enum tier_column column)
{
	const struct table_figure *figure = table__figure(table, key, column);
	struct table_value value = { .known = figure->rows, .kind = TABLE_REAL };

	if (value.known)
		value.real = figure->sum / (double)figure->rows;
	return value;
}

/* Of all requests alike, by Little's law; the mean of the rows where no rate is known. */
static struct table_value mean_latency(const struct table *table, size_t key)
{
	const struct table_figure *open = table__figure(table, key, TIER_OUTSTANDING);
	struct table_value latency = mean(table, key, TIER_LATENCY);
	const struct table_figure *rate = table__figure(table, key, TIER_RATE);

	if (open->rows && open->rows == rate->rows && rate->sum > 0)
		latency.real = open->sum / rate->sum * 1e9;
	return latency;
}

static void key(FILE *out, const struct table *table, size_t at)
{
	const struct table_value name = table__key(table, at, TIER_NAME);
	const struct table_value open = mean(table, at, TIER_OUTSTANDING);
	const struct table_value rate = mean(table, at, TIER_RATE);
	const struct table_value bandwidth = mean(table, at, TIER_BANDWIDTH);
	const struct table_value latency = mean_latency(table, at);
	const struct table_figure *range = table__figure(table, at, TIER_LATENCY);
	const struct table_value low = { .known = range->rows, .real = range->low };
	const struct table_value high = { .known = range->rows, .real = range->high };
	char cells[6][CELL];

	fprintf(out, "%6lld %-11.11s %8s %8s %8s %9s %9s %9s\n",
		(long long)table__key(table, at, TIER_SOCKET).integer, name.text,
		number(cells[0], &open, "%.2f", 1), scaled(cells[1], &rate),
		scaled(cells[2], &bandwidth), number(cells[3], &latency, "%.1f ns", 1),
		number(cells[4], &low, "%.1f ns", 1), number(cells[5], &high, "%.1f ns", 1));
}

void tierlat_print__summary(FILE *out, const struct run *run, const struct run_module *module)
{
	char window[UNITS_TEXT], interval[UNITS_TEXT];
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "%s: loaded latency of memory by tier, %s in intervals of %s",
		  module->name, units__duration(window, run->duration_ns),
		  units__duration(interval, run->interval_ns));
	wrap__print(&wrap, out, 0, 2);
	fprintf(out, "%6s %-11s %8s %8s %8s %9s %9s %9s\n", "socket", "tier", "open", "req/s",
		"B/s", "latency", "lowest", "highest");
	for (size_t at = 0; at < table__keys(module->table); at++)
		key(out, module->table, at);
	fputc('\n', out);
	wrap__add(&wrap, "how: %s: %s", module->rung, module->mechanism);
	wrap__print(&wrap, out, 2, 2);
}
