// SPDX-License-Identifier: BSD-2-Clause
/* Text and JSON of the pressure: when tasks waited for it, and which probes follow it. */
#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include <core/coverage.h>
#include <core/units.h>
#include <core/why.h>
#include <store/json_print.h>

#include "report.h"
#include "wrap.h"

#define COLUMNS (sizeof(shown) / sizeof(shown[0]))

/* What the time line has. */
static const struct {
	enum pressure_column column;
	const char *title;
} shown[] = {
	{ PRESSURE_CPU_SOME, "cpu" },		{ PRESSURE_MEMORY_SOME, "memory" },
	{ PRESSURE_MEMORY_FULL, "mem full" },	{ PRESSURE_IO_SOME, "io" },
	{ PRESSURE_MAJOR_FAULTS, "major flt" }, { PRESSURE_RECLAIMED, "reclaimed" },
};

/* The pressures that a probe is asked to follow; the other columns are details. */
static const struct {
	enum pressure_column column;
	const char *name;
} asked[] = {
	{ PRESSURE_CPU_SOME, "CPU pressure" },
	{ PRESSURE_MEMORY_SOME, "memory pressure" },
	{ PRESSURE_IO_SOME, "I/O pressure" },
};

/* The mean over intervals `from` to `to`, by the time of their readings; NAN: known in none. */
static double mean_over(const struct correlation *correlation,
			const struct correlation_series *series, size_t from, size_t to)
{
	double sum = 0, length = 0;

	for (size_t i = from; i < to && i < correlation->timeline->nr; i++) {
		double ns = (double)correlation->read_ns[i];

		if (isnan(series->values[i]))
			continue;
		sum += series->values[i] * ns;
		length += ns;
	}
	return length > 0 ? sum / length : NAN;
}

static void print_line(FILE *out, const struct correlation *correlation, size_t from, size_t to)
{
	char text[UNITS_TEXT];

	for (size_t i = 0; i < COLUMNS; i++) {
		const struct correlation_series *series =
			correlation__pressure(correlation, shown[i].column);

		fprintf(out, " %10s",
			report__value(text, series, mean_over(correlation, series, from, to)));
	}
	fputc('\n', out);
}

static void print_lines(FILE *out, const struct correlation *correlation)
{
	const struct timeline *timeline = correlation->timeline;

	fprintf(out, "%9s", "end (s)");
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(out, " %10s", shown[i].title);
	fputc('\n', out);
	for (size_t i = 0; timeline->nr > 1 && i < timeline->nr_lines; i++) {
		size_t from = i * timeline->per_line, to = from + timeline->per_line;

		to = to < timeline->nr ? to : timeline->nr;
		fprintf(out, "%9.3f", (double)timeline->end_ns[to - 1] / 1e9);
		print_line(out, correlation, from, to);
	}
	fprintf(out, "%9s", "mean");
	print_line(out, correlation, 0, timeline->nr);
}

static void add_probe(struct wrap *wrap, const struct run_probe *probe)
{
	const char *waits = why__words(probe->name)->waits;

	wrap__add(wrap, "Slow %s%s", waits ? "" : "events of ", waits ? waits : probe->name);
}

/* Does the probe follow the pressure? A sentence for a link, or if `verbose`. */
static void print_answer(FILE *out, const struct correlation_series *series,
			 const struct timeline_probe *probe, const struct correlation_pair *pair,
			 const char *name, const struct coverage *low, bool verbose)
{
	struct wrap wrap = { 0 };

	add_probe(&wrap, probe->probe);
	wrap__add(&wrap,
		  pair->verdict == TIMELINE_POSITIVE ? " come with %s: "
						     : " are not explained by %s: ",
		  name);
	report__add_means(&wrap, series, pair, verbose);
	if (low)
		wrap__add(&wrap, "; most of this pressure is not in %s", low->words->waits);
	wrap__add(&wrap, ".");
	wrap__print(&wrap, out, 2, 2);
}

/*
 * If the pressure of this column is mostly outside the probe's samples, the probe may fall with it:
 * a task that is held up elsewhere has none. NULL: it is not, as far as is known.
 */
static const struct coverage *low_coverage(struct coverage *coverage, const struct run *run,
					   const struct run_probe *probe,
					   enum pressure_column column)
{
	if (!coverage__of(coverage, run, probe) || coverage->words->stall != column)
		return NULL;
	return coverage__is_low(coverage) ? coverage : NULL;
}

/* Of the other columns, those that have a verdict: only rho, since they repeat the answer. */
static void print_details(FILE *out, const struct correlation *correlation, unsigned int probe)
{
	struct wrap wrap = { 0 };

	for (unsigned int i = correlation->nr_keys; i < correlation->nr; i++) {
		const struct correlation_series *series = &correlation->series[i];
		const struct correlation_pair *pair = &series->pairs[probe];

		if (series->family != CORRELATION_DETAILS || pair->verdict == TIMELINE_NOT_SHOWN)
			continue;
		wrap__add(&wrap, "%s %s %+.2f", wrap.len ? "," : "also correlated:", series->name,
			  pair->found.rho);
	}
	if (wrap.len)
		wrap__print(&wrap, out, 4, 2);
}

/* The pressures without a link are one line. */
static void print_answers(FILE *out, const struct correlation *correlation, unsigned int probe,
			  bool verbose)
{
	const struct timeline_probe *of = &correlation->timeline->probes[probe];
	struct wrap wrap = { 0 }, none = { 0 }, unknown = { 0 };
	struct coverage coverage;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		const struct correlation_series *series =
			correlation__pressure(correlation, asked[i].column);
		const struct correlation_pair *pair = &series->pairs[probe];
		const struct coverage *low = low_coverage(&coverage, correlation->timeline->run,
							  of->probe, asked[i].column);

		if (isnan(pair->adjusted))
			wrap__add(&unknown, "; %s: cannot tell, %s", asked[i].name, pair->why);
		else if (pair->verdict == TIMELINE_NOT_SHOWN && !low && !verbose)
			wrap__add(&none, "%s %s", none.len ? "," : " no link found with",
				  asked[i].name);
		else
			print_answer(out, series, of, pair, asked[i].name, low, verbose);
	}
	add_probe(&wrap, of->probe);
	wrap__add(&wrap, ":%s%s", none.text, unknown.text + (unknown.len && !none.len));
	if (none.len || unknown.len)
		wrap__print(&wrap, out, 2, 2);
	if (verbose)
		print_details(out, correlation, probe);
}

void report__print_pressure(FILE *out, const struct correlation *correlation, bool verbose)
{
	const struct timeline *timeline = correlation->timeline;
	const char *cgroup = timeline->run->pressure.cgroup, *why = timeline->run->pressure.why;

	if (!timeline->nr || correlation->nr == correlation->nr_keys)
		return;
	fputc('\n', out);
	wrap__line(
		out, 0, 2,
		"Pressure of the %s%s: share of the time in which a task waited (PSI; full: while "
		"none worked), major page faults and reclaimed pages",
		cgroup ? "cgroup " : "whole machine", cgroup ? cgroup : "");
	print_lines(out, correlation);
	if (why[0]) {
		wrap__line(out, 2, 2, "unknown: %s", why);
	}
	for (unsigned int i = 0; timeline->nr > 1 && i < timeline->nr_probes; i++)
		print_answers(out, correlation, i, verbose);
}

/* The column's name, but for shares without its unit: "memory_some", "major_faults". */
static const char *field(char name[RUN_NAME], const struct correlation_series *series)
{
	strcpy(name, series->name);
	for (char *at = name; (at = strchr(at, ' '));)
		*at = '_';
	return name;
}

/* What a column is on average. */
static struct json_object *mean_json(const char *name, bool is_share, const char *what, double mean)
{
	struct json_object *object = json_object_new_object();

	fields__text(object, "name", name);
	fields__text(object, "unit", is_share ? "share" : "1/s");
	fields__text(object, "what", what);
	fields__number(object, "mean", mean);
	return object;
}

static struct json_object *column_json(const struct correlation *correlation,
				       const struct correlation_series *series)
{
	const struct table_column *column = table__column(series->table, series->column);
	char name[RUN_NAME];
	struct json_object *object =
		mean_json(field(name, series), series->unit == CORRELATION_SHARE, column->what,
			  mean_over(correlation, series, 0, correlation->timeline->nr));

	fields__number(object, "max", series->most);
	return object;
}

static struct json_object *make_column(const void *of, size_t at)
{
	const struct correlation *correlation = of;

	return column_json(correlation, &correlation->series[correlation->nr_keys + at]);
}

static struct json_object *make_interval(const void *of, size_t at)
{
	const struct correlation *correlation = of;
	struct json_object *object = json_object_new_object();
	char name[RUN_NAME];

	fields__number(object, "start_sec", (double)correlation->timeline->start_ns[at] / 1e9);
	fields__number(object, "end_sec", (double)correlation->timeline->end_ns[at] / 1e9);
	for (unsigned int i = correlation->nr_keys; i < correlation->nr; i++)
		fields__number(object, field(name, &correlation->series[i]),
			       correlation->series[i].values[at]);
	return object;
}

/* By series, and of each by probe. */
static struct json_object *make_pair(const void *of, size_t at)
{
	const struct correlation *correlation = of;
	const struct timeline *timeline = correlation->timeline;
	const struct correlation_series *series =
		&correlation->series[correlation->nr_keys + at / timeline->nr_probes];

	at %= timeline->nr_probes;
	return report__pair_json(series, &timeline->probes[at], &series->pairs[at]);
}

static void add_pairs(struct json_object *to, const char *name,
		      const struct correlation *correlation)
{
	unsigned int nr = correlation->nr - correlation->nr_keys;

	fields__list(to, name, (size_t)nr * correlation->timeline->nr_probes, make_pair,
		     correlation);
}

void report__add_pressure_pairs(struct json_object *to, const struct correlation *correlation)
{
	if (correlation->nr > correlation->nr_keys)
		add_pairs(to, "pressure_pairs", correlation);
}

/* Of the machine or of which cgroup, and what is unknown. */
static struct json_object *begin_json(const struct run_pressure *pressure)
{
	struct json_object *object = json_object_new_object();

	fields__text(object, "cgroup", pressure->cgroup);
	fields__text(object, "unknown", pressure->why[0] ? pressure->why : NULL);
	return object;
}

void report__add_pressure(struct json_object *to, const struct correlation *correlation)
{
	struct json_object *object;

	if (correlation->nr == correlation->nr_keys)
		return;
	object = begin_json(&correlation->timeline->run->pressure);
	fields__list(object, "columns", correlation->nr - correlation->nr_keys, make_column,
		     correlation);
	fields__list(object, "intervals", correlation->timeline->nr, make_interval, correlation);
	add_pairs(object, "pairs", correlation);
	fields__put(to, "pressure", object);
}

/* ---- without intervals ---- */

static struct json_object *sum_json(unsigned int at, double rate)
{
	const struct table_column *column = &pressure_columns[at];
	bool is_time = column->unit[0];
	char name[RUN_NAME];

	snprintf(name, sizeof(name), "%.*s",
		 (int)(strlen(column->name) - (is_time ? strlen("_ns") : 0)), column->name);
	return mean_json(name, is_time, column->what, rate * (is_time ? 1 : 1e9));
}

void report__add_pressure_means(struct json_object *to, const struct run *run)
{
	struct json_object *object, *columns;
	double rate;

	if (!to || !run->pressure.table || !table__last_ns(run->pressure.table))
		return;
	object = begin_json(&run->pressure);
	columns = json_object_new_array();
	for (unsigned int i = 0; i < PRESSURE_COLUMNS; i++)
		if (pressure__rate(run->pressure.table, i, &rate))
			json_object_array_add(columns, sum_json(i, rate));
	fields__put(object, "columns", columns);
	fields__put(to, "pressure", object);
}
