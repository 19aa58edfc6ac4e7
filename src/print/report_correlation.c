// SPDX-License-Identifier: BSD-2-Clause
/* Text and JSON of the covariates: values of tables that change with the slow events. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include <core/units.h>
#include <store/json_print.h>

#include "report.h"
#include "wrap.h"

const char *report__value(char text[UNITS_TEXT], const struct correlation_series *series,
			  double value)
{
	char size[UNITS_TEXT];

	if (isnan(value))
		return strcpy(text, "-");
	switch (series->unit) {
	case CORRELATION_NS:
		return units__ns(text, value);
	case CORRELATION_SHARE:
		return units__ratio(text, value);
	case CORRELATION_BYTES:
		return units__size(text, (uint64_t)fmax(value, 0));
	case CORRELATION_BYTES_PER_SECOND:
		snprintf(text, UNITS_TEXT, "%.24s/s", units__size(size, (uint64_t)fmax(value, 0)));
		return text;
	default:
		return units__rate(text, value);
	}
}

void report__add_means(struct wrap *wrap, const struct correlation_series *series,
		       const struct correlation_pair *pair, bool verbose)
{
	char worst[UNITS_TEXT], other[UNITS_TEXT];

	wrap__add(wrap, "%s when they were slowest, %s otherwise",
		  report__value(worst, series, pair->worst),
		  report__value(other, series, pair->other));
	if (verbose)
		wrap__add(wrap, " (%zu and %zu intervals)", pair->worst_nr, pair->other_nr);
	if (verbose && !isnan(pair->adjusted))
		wrap__add(wrap, ": %s: %+.2f [%+.2f, %+.2f], p = %.2g",
			  timeline__word(pair->verdict), pair->found.rho, pair->found.low,
			  pair->found.high, pair->adjusted);
}

static void print_pair(FILE *out, const struct correlation_series *series,
		       const struct timeline_probe *probe, const struct correlation_pair *pair)
{
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "%s and %s of %s: ", probe->probe->name, series->name, series->of);
	report__add_means(&wrap, series, pair, true);
	wrap__print(&wrap, out, 2, 2);
}

void report__print_correlation(FILE *out, const struct correlation *correlation)
{
	const struct timeline *timeline = correlation->timeline;
	struct wrap wrap = { 0 };

	if (!correlation->nr_keys)
		return;
	wrap__add(&wrap, "Covariates of the slow events: mean in the worst quarter of a probe's "
			 "intervals, and in the others; Spearman's rho with the slow share, p "
			 "corrected for their number (Holm)");
	fputc('\n', out);
	wrap__print(&wrap, out, 0, 2);
	for (unsigned int j = 0; j < timeline->nr_probes; j++) {
		for (unsigned int i = 0; i < correlation->nr_keys; i++)
			print_pair(out, &correlation->series[i], &timeline->probes[j],
				   &correlation->series[i].pairs[j]);
	}
}

struct json_object *report__pair_json(const struct correlation_series *series,
				      const struct timeline_probe *probe,
				      const struct correlation_pair *pair)
{
	struct json_object *object = json_object_new_object();

	fields__text(object, "probe", probe->probe->name);
	if (series->family == CORRELATION_LATENCY) {
		fields__text(object, "table", series->of);
		fields__text(object, "key", series->name);
	}
	fields__text(object, "column", table__column(series->table, series->column)->name);
	fields__number(object, "mean_in_worst_quarter", pair->worst);
	fields__count(object, "intervals_in_worst_quarter", pair->worst_nr);
	fields__number(object, "mean_in_others", pair->other);
	fields__count(object, "other_intervals", pair->other_nr);
	fields__text(object, "verdict", timeline__word(pair->verdict));
	fields__number(object, "rho", pair->found.rho);
	fields__number(object, "rho_low", pair->found.low);
	fields__number(object, "rho_high", pair->found.high);
	fields__number(object, "p", pair->found.p);
	fields__number(object, "p_adjusted", pair->adjusted);
	if (series->family != CORRELATION_LATENCY)
		fields__text(object, "reason", pair->why[0] ? pair->why : NULL);
	return object;
}

void report__add_correlation(struct json_object *to, const struct correlation *correlation)
{
	const struct timeline *timeline = correlation->timeline;
	struct json_object *array;

	if (!correlation->nr_keys)
		return;
	array = json_object_new_array();
	for (unsigned int j = 0; j < timeline->nr_probes; j++) {
		for (unsigned int i = 0; i < correlation->nr_keys; i++)
			json_object_array_add(array,
					      report__pair_json(&correlation->series[i],
								&timeline->probes[j],
								&correlation->series[i].pairs[j]));
	}
	fields__put(to, "covariates", array);
}
