// SPDX-License-Identifier: BSD-2-Clause
/* Text and JSON of the processes that rose with the slow events. */
#include "view_rising.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include <core/units.h>
#include <print/report.h>
#include <print/wrap.h>
#include <store/json_print.h>

#define MOST 5 /* processes that are listed for each probe */

/* CPU time per time is that of so many CPUs. */
static const char *value_text(char text[UNITS_TEXT], const struct correlation_series *series,
			      double value)
{
	if (series->unit != CORRELATION_SHARE)
		return report__value(text, series, value);
	snprintf(text, UNITS_TEXT, "%.3g CPUs", value);
	return text;
}

static void print_one(FILE *out, const struct rising *rising,
		      const struct correlation_series *series, const struct correlation_pair *pair)
{
	char worst[UNITS_TEXT], other[UNITS_TEXT];

	wrap__line(out, 4, 2,
		   "%s: %s rose: %s in %zu interval%s of the worst quarter, %s in %zu of the "
		   "others: positive correlation: %+.2f [%+.2f, %+.2f], p = %.2g",
		   rising->groups[series->key].name, series->name,
		   value_text(worst, series, pair->worst), pair->worst_nr,
		   pair->worst_nr == 1 ? "" : "s", value_text(other, series, pair->other),
		   pair->other_nr, pair->found.rho, pair->found.low, pair->found.high,
		   pair->adjusted);
}

struct risen {
	const struct correlation_series *series;
	const struct correlation_pair *pair;
};

/* By measure, then the strongest correlation first. */
static int strongest_first(const void *left, const void *right)
{
	const struct risen *a = left, *b = right;

	if (a->series->column != b->series->column)
		return a->series->column < b->series->column ? -1 : 1;
	if (a->pair->found.rho > b->pair->found.rho)
		return -1;
	return a->pair->found.rho < b->pair->found.rho;
}

/* Why no test was possible: the same for all processes, if it lies in the probe. */
static const char *untested(const struct rising *rising, unsigned int probe)
{
	const char *why = NULL;

	for (unsigned int i = 0; i < rising->nr; i++) {
		if (!isnan(rising->series[i].pairs[probe].adjusted))
			return NULL;
		why = rising->series[i].pairs[probe].why;
	}
	return why;
}

static void print_probe(FILE *out, const struct rising *rising, unsigned int probe)
{
	const char *name = rising->timeline->probes[probe].probe->name;
	struct risen risen[RISING_SERIES] = { 0 };
	const char *why = untested(rising, probe);
	struct wrap wrap = { 0 };
	size_t nr = 0;

	for (unsigned int i = 0; i < rising->nr; i++)
		if (rising__rose(&rising->series[i].pairs[probe]))
			risen[nr++] = (struct risen){ &rising->series[i],
						      &rising->series[i].pairs[probe] };
	qsort(risen, nr, sizeof(*risen), strongest_first);
	if (why)
		wrap__add(&wrap, "%s: cannot tell: %s", name, why);
	else if (!nr)
		wrap__add(&wrap, "%s: no process is shown to have risen with its slow events",
			  name);
	else
		wrap__add(&wrap, "%s:", name);
	wrap__print(&wrap, out, 2, 2);
	for (size_t i = 0; i < nr && i < MOST; i++)
		print_one(out, rising, risen[i].series, risen[i].pair);
	if (nr > MOST)
		fprintf(out, "    and %zu more\n", nr - MOST);
}

void rising__print(FILE *out, const struct rising *rising)
{
	struct wrap wrap = { 0 };

	if (!rising->nr)
		return;
	fputc('\n', out);
	wrap__add(&wrap,
		  "Processes whose use of the machine rose with the slow events, of the %u names "
		  "with the most CPU time (rmid): mean in the worst quarter of a probe's "
		  "intervals and in the others; p corrected for all processes and probes (Holm). "
		  "What rises with them need not be their cause",
		  rising->nr_groups);
	if (rising->is_incomplete)
		wrap__add(&wrap, ". Records of rmid were lost: values may be too low");
	wrap__print(&wrap, out, 0, 2);
	for (unsigned int j = 0; j < rising->timeline->nr_probes; j++)
		print_probe(out, rising, j);
}

void rising__add_json(struct json_object *to, const struct rising *rising)
{
	struct json_object *array, *object;

	if (!rising->nr)
		return;
	array = json_object_new_array();
	for (unsigned int i = 0; i < rising->nr; i++) {
		const struct correlation_series *series = &rising->series[i];

		for (unsigned int j = 0; j < rising->timeline->nr_probes; j++) {
			object = report__pair_json(series, &rising->timeline->probes[j],
						   &series->pairs[j]);
			fields__text(object, "process", rising->groups[series->key].name);
			fields__flag(object, "rose", rising__rose(&series->pairs[j]));
			json_object_array_add(array, object);
		}
	}
	fields__put(to, "rising", array);
}
