// SPDX-License-Identifier: BSD-2-Clause
/* Text and JSON of the covariates: values of tables that change with the slow events. */
#include <math.h>
#include <stdio.h>

#include <json-c/json.h>

#include <core/units.h>
#include <store/json_print.h>

#include "report.h"
#include "wrap.h"

static void add_mean(struct wrap *wrap, double mean, size_t intervals, const char *where)
{
	char text[UNITS_TEXT];

	if (intervals)
		wrap__add(wrap, "%s in %zu interval%s %s", units__ns(text, mean), intervals,
			  intervals == 1 ? "" : "s", where);
	else
		wrap__add(wrap, "unknown in intervals %s", where);
}

static void print_figure(FILE *out, const struct correlation_series *series,
			 const struct timeline_probe *probe,
			 const struct correlation_figure *figure)
{
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "%s and %s of %s: ", probe->probe->name, series->name,
		  series->probe->name);
	add_mean(&wrap, figure->worst, figure->worst_nr, "of its worst quarter");
	wrap__add(&wrap, ", ");
	add_mean(&wrap, figure->other, figure->other_nr, "of the others");
	if (!isnan(figure->adjusted))
		wrap__add(&wrap, ": %s: %+.2f [%+.2f, %+.2f], p = %.2g",
			  timeline__word(figure->verdict), figure->found.rho, figure->found.low,
			  figure->found.high, figure->adjusted);
	wrap__print(&wrap, out, 2, 2);
}

void report__print_correlation(FILE *out, const struct correlation *correlation)
{
	const struct timeline *timeline = correlation->timeline;
	struct wrap wrap = { 0 };

	if (!correlation->nr)
		return;
	wrap__add(&wrap, "Covariates of the slow events: mean in the worst quarter of a probe's "
			 "intervals, and in the others; Spearman's rho with the slow share, p "
			 "corrected for their number (Holm)");
	fputc('\n', out);
	wrap__print(&wrap, out, 0, 2);
	for (unsigned int j = 0; j < timeline->nr_probes; j++) {
		for (unsigned int i = 0; i < correlation->nr; i++)
			print_figure(out, &correlation->series[i], &timeline->probes[j],
				     &correlation->series[i].figures[j]);
	}
}

static struct json_object *figure_json(const struct correlation_series *series,
				       const struct timeline_probe *probe,
				       const struct correlation_figure *figure)
{
	struct json_object *object = json_object_new_object();
	const struct table *table = series->probe->table;

	fields__text(object, "probe", probe->probe->name);
	fields__text(object, "table", series->probe->name);
	fields__text(object, "key", series->name);
	fields__text(object, "column", table__column(table, series->column)->name);
	fields__number(object, "mean_in_worst_quarter", figure->worst);
	fields__count(object, "intervals_in_worst_quarter", figure->worst_nr);
	fields__number(object, "mean_in_others", figure->other);
	fields__count(object, "other_intervals", figure->other_nr);
	fields__text(object, "verdict", timeline__word(figure->verdict));
	fields__number(object, "rho", figure->found.rho);
	fields__number(object, "rho_low", figure->found.low);
	fields__number(object, "rho_high", figure->found.high);
	fields__number(object, "p", figure->found.p);
	fields__number(object, "p_adjusted", figure->adjusted);
	return object;
}

void report__add_correlation(struct json_object *to, const struct correlation *correlation)
{
	const struct timeline *timeline = correlation->timeline;
	struct json_object *array;

	if (!correlation->nr)
		return;
	array = json_object_new_array();
	for (unsigned int j = 0; j < timeline->nr_probes; j++) {
		for (unsigned int i = 0; i < correlation->nr; i++)
			json_object_array_add(
				array, figure_json(&correlation->series[i], &timeline->probes[j],
						   &correlation->series[i].figures[j]));
	}
	json_object_object_add(to, "covariates", array);
}
