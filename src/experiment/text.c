// SPDX-License-Identifier: BSD-2-Clause
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include <core/units.h>
#include <stats/sequential.h>
#include <store/json_print.h>

#define SHOWN 12 /* lines of the table */
#define RUN_SPREAD_KNOWN JUDGE_LEAST_OBSERVATIONS

static double wanted_effect(const struct experiment *experiment)
{
	return experiment->plan.effect > 0 ? experiment->plan.effect : EXPERIMENT_EFFECT;
}

static const char *percent(char buf[UNITS_TEXT], double share)
{
	snprintf(buf, UNITS_TEXT, "%.*f %%", share < 0.0995 ? 1 : 0, share * 100);
	return buf;
}

static void print_looks(FILE *out, const struct experiment *experiment, bool verbose)
{
	const struct plan *plan = &experiment->plan;
	size_t runs = experiment->done[0];

	fprintf(out, "\nexperiment: %zu run%s on each side of %zu planned, in random order\n", runs,
		runs == 1 ? "" : "s", plan->planned);
	for (size_t i = 0; verbose && i < plan->nr_looks; i++)
		fprintf(out, "look after %zu: error probability %.2g %%, confidence %.2f %%\n",
			plan->looks[i].runs, plan->looks[i].level * 100,
			100 - plan->looks[i].level * 100);
	if (experiment__ended_early(experiment))
		fputs("ended early: this look has the answer\n", out);
}

static void print_power(FILE *out, const struct experiment_power *power)
{
	char name[2 * RUN_NAME + 16], spread[UNITS_TEXT], finds[UNITS_TEXT], runs[UNITS_TEXT];
	const struct run_probe *probe = power->row->probe;

	snprintf(name, sizeof(name), "%s %s %s", probe->name,
		 probe->metrics[power->row->metric].name, judge__name(power->statistic));
	snprintf(runs, sizeof(runs), "%zu", power->needed);
	if (power->needed >= SEQUENTIAL_MOST_RUNS)
		snprintf(runs, sizeof(runs), "over 1M");
	fprintf(out, "%-32.32s %12s %14s %14s\n", name, percent(spread, expm1(power->spread)),
		power->finds < 100 ? percent(finds, power->finds) : "over x100", runs);
}

static void print_powers(FILE *out, const struct experiment *experiment,
			 const struct experiment_power *powers, size_t nr)
{
	char effect[UNITS_TEXT], title[2 * UNITS_TEXT];

	snprintf(title, sizeof(title), "%s needs", percent(effect, wanted_effect(experiment)));
	fprintf(out, "\n%-32s %12s %14s %14s\n", "what such runs can find", "spread", "found",
		title);
	for (size_t i = 0; i < nr && i < SHOWN; i++)
		print_power(out, &powers[i]);
	if (nr > SHOWN)
		fprintf(out, "and %zu that need fewer runs; --json has them\n", nr - SHOWN);
	fprintf(out,
		"spread: from run to run. found: the difference that %zu runs on each side show\n"
		"in 80 %% of experiments; needs: runs on each side for the difference named.\n",
		experiment->done[0]);
}

int experiment_text__print(FILE *out, const struct experiment *experiment, bool verbose)
{
	struct experiment_power *powers;
	ssize_t nr = experiment__powers(experiment, &powers);

	if (nr < 0)
		return (int)nr;
	print_looks(out, experiment, verbose);
	if (experiment->done[0] < RUN_SPREAD_KNOWN)
		fprintf(out,
			"%d runs on each side measure how runs differ, so how many are needed;\n"
			"so far a spread is assumed: use -n %d or more\n",
			RUN_SPREAD_KNOWN, RUN_SPREAD_KNOWN);
	else if (nr)
		print_powers(out, experiment, powers, (size_t)nr);
	free(powers);
	return 0;
}

static void add_looks(struct json_object *to, const struct plan *plan)
{
	struct json_object *array = json_object_new_array(), *look;

	for (size_t i = 0; i < plan->nr_looks; i++) {
		look = json_object_new_object();
		fields__count(look, "runs", plan->looks[i].runs);
		fields__number(look, "error_probability", plan->looks[i].level);
		json_object_array_add(array, look);
	}
	json_object_object_add(to, "looks", array);
}

static void add_power(struct json_object *array, const struct experiment_power *power)
{
	struct json_object *to = json_object_new_object();
	const struct run_probe *probe = power->row->probe;

	fields__text(to, "probe", probe->name);
	fields__text(to, "metric", probe->metrics[power->row->metric].name);
	fields__text(to, "statistic", judge__name(power->statistic));
	fields__number(to, "spread", power->spread);
	fields__number(to, "finds", power->finds);
	fields__count(to, "needed_runs", power->needed);
	json_object_array_add(array, to);
}

int experiment_text__add_json(struct json_object *to, const struct experiment *experiment)
{
	struct json_object *object, *array;
	struct experiment_power *powers;
	ssize_t nr = experiment__powers(experiment, &powers);

	if (nr < 0)
		return (int)nr;
	object = json_object_new_object();
	fields__text(object, "directory", experiment->path);
	fields__count(object, "runs", experiment->done[0]);
	fields__count(object, "planned_runs", experiment->plan.planned);
	fields__flag(object, "ended_early", experiment__ended_early(experiment));
	fields__count(object, "seed", experiment->plan.seed);
	fields__number(object, "effect", wanted_effect(experiment));
	fields__number(object, "power", SEQUENTIAL_POWER);
	add_looks(object, &experiment->plan);
	array = json_object_new_array();
	for (ssize_t i = 0; i < nr; i++)
		add_power(array, &powers[i]);
	json_object_object_add(object, "powers", array);
	free(powers);
	json_object_object_add(to, "experiment", object);
	return 0;
}
