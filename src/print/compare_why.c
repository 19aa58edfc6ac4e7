// SPDX-License-Identifier: BSD-2-Clause
/* Which part of the slow time changed, as text and JSON. */
#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include <core/units.h>
#include <stats/why_change.h>
#include <store/json_print.h>

#include "compare.h"
#include "wrap.h"

#define TEXT UNITS_TEXT
#define MOST_CULPRITS 5 /* of a part */
#define LEAST_SHARE 0.01 /* of the part's change, of a culprit that is shown */

static const char *signed_ns(char buf[TEXT], double ns)
{
	char size[TEXT];

	snprintf(buf, TEXT, "%s%.*s", ns < 0 ? "-" : "+", TEXT - 2, units__ns(size, fabs(ns)));
	return buf;
}

static void print_change(FILE *out, const char *name, const struct why_change *change)
{
	char off[TEXT], on[TEXT], grown[TEXT], low[TEXT], high[TEXT], interval[2 * TEXT + 4];

	fprintf(out, "%-44.44s %10s %10s %11s\n", name, units__ns(off, change->rate[0]),
		units__ns(on, change->rate[1]),
		signed_ns(grown, change->rate[1] - change->rate[0]));
	if (!change->has_interval)
		return;
	snprintf(interval, sizeof(interval), "[%s, %s]", signed_ns(low, change->low),
		 signed_ns(high, change->high));
	fprintf(out, "%78s\n", interval);
}

static void print_culprits(FILE *out, const struct why_changes *changes,
			   const struct why_change *part)
{
	double whole = fabs(part->rate[1] - part->rate[0]);
	unsigned int shown = 0;
	char name[RUN_NAME + 2];

	for (size_t i = 0; i < changes->nr_culprits && shown < MOST_CULPRITS; i++) {
		const struct why_change *culprit = &changes->culprits[i];

		if (strcmp(culprit->part, part->part) ||
		    fabs(culprit->rate[1] - culprit->rate[0]) < LEAST_SHARE * whole)
			continue;
		snprintf(name, sizeof(name), "  %s", culprit->culprit);
		print_change(out, name, culprit);
		shown++;
	}
}

/* Slow samples above another threshold are other samples. */
static void compare_thresholds(FILE *out, const struct why_changes *changes)
{
	char low[2][TEXT], high[2][TEXT];

	if (changes->over_low_ns[0] == changes->over_low_ns[1] &&
	    changes->over_high_ns[0] == changes->over_high_ns[1])
		return;
	for (int i = 0; i < 2; i++) {
		units__ns(low[i], (double)changes->over_low_ns[i]);
		units__ns(high[i], (double)changes->over_high_ns[i]);
	}
	wrap__line(out, 0, 2,
		   "warning: the thresholds differ (OFF %s to %s, ON %s to %s), so the slow time "
		   "is of different samples; record both with the same --over",
		   low[0], high[0], low[1], high[1]);
}

static void print_probe(void *to, const char *probe, const struct why_changes *changes)
{
	FILE *out = to;

	fputc('\n', out);
	wrap__line(out, 0, 2, "%s.", changes->sentence);
	compare_thresholds(out, changes);
	fprintf(out, "\n%s: slow time per second%*s %10s %10s %11s\n", probe,
		(int)(44 - strlen(probe) - strlen(": slow time per second")), "", "OFF", "ON",
		"change");
	print_change(out, "all", &changes->whole);
	for (size_t i = 0; i < changes->nr_parts; i++) {
		const struct why_change *part = &changes->parts[i];
		const char *what = why__named(probe, part->part)->what;

		print_change(out, what ? what : part->part, part);
		print_culprits(out, changes, part);
	}
}

/* Calls `take` for each probe that both groups explain. 0 or -ENOMEM. */
static int each_probe(const struct comparison *comparison,
		      void (*take)(void *arg, const char *probe, const struct why_changes *changes),
		      void *arg)
{
	const struct run *run = comparison->groups[0].recordings[0].run;
	struct why_changes changes;
	int got = 0;

	for (unsigned int i = 0; got >= 0 && i < run->nr_probes; i++) {
		const char *probe = run->probes[i].name;

		if (comparison->rules.probe && strcmp(comparison->rules.probe, probe))
			continue;
		got = why_changes__of(&changes, comparison->groups, probe);
		if (got > 0)
			take(arg, probe, &changes);
		why_changes__clear(&changes);
	}
	return got < 0 ? got : 0;
}

int compare__print_why(FILE *out, const struct comparison *comparison)
{
	return each_probe(comparison, print_probe, out);
}

static struct json_object *make_change(const void *changes, size_t at)
{
	const struct why_change *change = (const struct why_change *)changes + at;
	struct json_object *object = json_object_new_object();

	if (change->part[0])
		fields__text(object, "part", change->part);
	if (change->culprit[0])
		fields__text(object, "culprit", change->culprit);
	fields__number(object, "off_ns_per_sec", change->rate[0]);
	fields__number(object, "on_ns_per_sec", change->rate[1]);
	fields__number(object, "low_ns_per_sec", change->has_interval ? change->low : NAN);
	fields__number(object, "high_ns_per_sec", change->has_interval ? change->high : NAN);
	return object;
}

static void take_json(void *array, const char *probe, const struct why_changes *changes)
{
	struct json_object *object = json_object_new_object();

	fields__text(object, "probe", probe);
	fields__text(object, "conclusion", changes->sentence);
	fields__put(object, "slow", make_change(&changes->whole, 0));
	fields__list(object, "parts", changes->nr_parts, make_change, changes->parts);
	fields__list(object, "culprits", changes->nr_culprits, make_change, changes->culprits);
	json_object_array_add(array, object);
}

int compare__add_why(struct json_object *object, const struct comparison *comparison)
{
	struct json_object *array = json_object_new_array();

	fields__put(object, "why", array);
	return each_probe(comparison, take_json, array);
}
