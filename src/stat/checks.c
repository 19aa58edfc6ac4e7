// SPDX-License-Identifier: BSD-2-Clause
#include "checks.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/account.h>
#include <base/units.h>

#include "judge.h"

static const struct run *run_of(const struct side *side, size_t recording)
{
	return side->recordings[recording].run;
}

static int check_complete(const struct side *side, struct notes *warnings)
{
	int err = 0;

	for (size_t i = 0; !err && i < side->nr; i++) {
		if (!run_of(side, i)->complete)
			err = notes__add(
				warnings, "%s %s; its waits that were still open are not known",
				side->recordings[i].path,
				run_of(side, i)->running ? "still goes on" : "was cut off");
	}
	return err;
}

static bool same_run(const struct run *a, const struct run *b)
{
	return a->start_mono_ns == b->start_mono_ns && !strcmp(a->start_utc, b->start_utc);
}

/* One recording counted twice is no replicate. */
static int check_copies(const struct side *one, const struct side *other, struct notes *warnings)
{
	int err = 0;

	for (size_t i = 0; !err && i < one->nr; i++) {
		for (size_t j = one == other ? i + 1 : 0; !err && j < other->nr; j++) {
			if (same_run(run_of(one, i), run_of(other, j)))
				err = notes__add(warnings, "%s and %s are the same recording",
						 one->recordings[i].path,
						 other->recordings[j].path);
		}
	}
	return err;
}

static const char *filter_of(const struct run *run)
{
	return run->filter ? run->filter : "none";
}

static int check_filters(const struct side sides[2], struct notes *warnings)
{
	const char *first = filter_of(run_of(&sides[0], 0));

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i].nr; j++) {
			const char *filter = filter_of(run_of(&sides[i], j));

			if (strcmp(filter, first))
				return notes__add(warnings, "the filters differ: %s, but %s on %s",
						  first, filter, judge__sides[i]);
		}
	}
	return 0;
}

/* Of lists, as of disks, only what both have counts. Both may be NULL, which is JSON's null. */
static bool same_value(struct json_object *a, struct json_object *b)
{
	bool same = true;

	if (!json_object_is_type(a, json_type_object) || !json_object_is_type(b, json_type_object))
		return !strcmp(json_object_to_json_string(a), json_object_to_json_string(b));
	json_object_object_foreach(a, name, mine)
	{
		struct json_object *value = json_object_object_get(b, name);

		same = same && (!value || same_value(mine, value));
	}
	return same;
}

/* A list says too much for a line. */
static int add_field(struct notes *fields, const char *name, struct json_object *mine,
		     struct json_object *value)
{
	if (json_object_is_type(mine, json_type_object))
		return notes__add(fields, "%s", name);
	return notes__add(fields, "%s (%.60s, but %.60s)", name, json_object_get_string(mine),
			  value ? json_object_get_string(value) : "not known");
}

/* The fields of two hosts that differ. */
static int add_fields(struct json_object *one, struct json_object *other, struct notes *fields)
{
	struct json_object *value;
	int err = 0;

	json_object_object_foreach(one, name, mine)
	{
		value = json_object_object_get(other, name);
		if (!err && !same_value(mine, value))
			err = add_field(fields, name, mine, value);
	}
	return err;
}

static int warn_of_fields(const struct notes *fields, const char *path, struct notes *warnings)
{
	char text[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < fields->nr && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "; " : "",
					 fields->lines[i]);
	return fields->nr ? notes__add(warnings, "the machine of %s differs: %s", path, text) : 0;
}

static int check_host(const struct run *first, const struct side_recording *recording,
		      struct notes *warnings)
{
	struct json_object *one, *other;
	struct notes fields = { 0 };
	int err = 0;

	one = json_tokener_parse(first->host ? first->host : "{}");
	other = json_tokener_parse(recording->run->host ? recording->run->host : "{}");
	if (json_object_is_type(one, json_type_object) &&
	    json_object_is_type(other, json_type_object))
		err = add_fields(one, other, &fields);
	if (!err)
		err = warn_of_fields(&fields, recording->path, warnings);
	notes__clear(&fields);
	json_object_put(one);
	json_object_put(other);
	return err;
}

/* The first one that is another is enough. */
static int check_hosts(const struct side sides[2], struct notes *warnings)
{
	size_t before = warnings->nr;
	int err = 0;

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; !err && warnings->nr == before && j < sides[i].nr; j++)
			err = check_host(run_of(&sides[0], 0), &sides[i].recordings[j], warnings);
	}
	return err;
}

int checks__sides(const struct side sides[2], struct notes *warnings)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++)
		err = check_complete(&sides[i], warnings);
	for (unsigned int i = 0; !err && i < 2; i++)
		err = check_copies(&sides[i], &sides[i], warnings);
	if (!err)
		err = check_copies(&sides[0], &sides[1], warnings);
	if (!err)
		err = check_hosts(sides, warnings);
	return err ? err : check_filters(sides, warnings);
}

static int check_balance(const struct side *side, const char *name, struct notes *warnings)
{
	int err = 0;

	for (size_t i = 0; i < side->nr; i++) {
		const struct run_module *module = side__module(run_of(side, i), name);

		for (unsigned int j = 0; !err && j < module->nr_metrics; j++) {
			if (run__imbalance(&module->total.metrics[j]))
				err = notes__add(warnings,
						 "%s %s: the accounting of %s does not balance",
						 name, module->metrics[j].name,
						 side->recordings[i].path);
		}
	}
	return err;
}

static int check_kernels(const struct side *side, const char *name, struct notes *warnings)
{
	int err = 0;

	for (size_t i = 0; !err && i < side->nr; i++) {
		const struct run_check *check = &side__module(run_of(side, i), name)->check;

		if ((check->events.known && account__disagrees(&check->events)) ||
		    (check->time.known && account__disagrees(&check->time)))
			err = notes__add(warnings, "%s: %s differs from %s beyond the tolerance",
					 name, side->recordings[i].path, check->source);
	}
	return err;
}

static int check_missing(const struct side *side, const char *label, const char *name,
			 unsigned int metric, struct notes *warnings)
{
	const struct side_series *series;
	uint64_t tail = 0, away = 0, open = 0;
	char one[UNITS_TEXT], other[UNITS_TEXT];
	const char *metric_name = NULL;

	for (size_t i = 0; i < side->nr; i++) {
		const struct run_module *module = side__module(run_of(side, i), name);

		metric_name = module->metrics[metric].name;
		away += run__lost(module, metric);
		open += metric ? 0 : module->open.count;
	}
	series = side__series(side, name, metric_name, SIDE_WHOLE, "");
	for (size_t i = 0; series && i < series->nr; i++)
		tail += series->units[i].hist.tail;
	if (away > tail &&
	    notes__add(warnings,
		       "%s %s: %s has lost %s events, more than the %s of its tail: the tail may "
		       "be biased",
		       name, metric_name, label, units__count(one, away),
		       units__count(other, tail)))
		return -ENOMEM;
	if (open > tail)
		return notes__add(warnings,
				  "%s %s: %s left %s waits open at the end, more than the %s of "
				  "its tail: the tail may be longer",
				  name, metric_name, label, units__count(one, open),
				  units__count(other, tail));
	return 0;
}

/*
 * Share of the recorded events whose start is the probe's own stamp, not the kernel's. Those of
 * runqlat, which knows the kernel's account too, tell the same time.
 */
static double own_stamps(const struct run *run, const char *module)
{
	const struct lat_cell *cell = &side__module(run, module)->total.metrics[0];
	uint64_t recorded = run__recorded(cell);
	uint64_t own = cell->counts[LAT_CHECKED] + cell->counts[LAT_FALLBACK];

	return recorded && !cell->counts[LAT_KERNEL_NS] ? (double)own / (double)recorded : 0;
}

/* One rung, but two kinds of stamp: they may lie further apart than the sides do. */
static bool find_stamps(const struct side sides[2], const char *module, double *least, double *most)
{
	*least = 1;
	*most = 0;
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i].nr; j++) {
			double own = own_stamps(run_of(&sides[i], j), module);

			*least = own < *least ? own : *least;
			*most = own > *most ? own : *most;
		}
	}
	return *most - *least >= 0.5;
}

bool checks__stamps_differ(const struct side sides[2], const char *module)
{
	double least, most;

	return find_stamps(sides, module, &least, &most);
}

static int check_stamps(const struct side sides[2], const char *module, struct notes *warnings)
{
	double least, most;

	if (!find_stamps(sides, module, &least, &most))
		return 0;
	return notes__add(warnings,
			  "%s took its own stamps for %.0f %% of the events of one recording, for "
			  "%.0f %% of another, and the kernel's for the rest: a difference may be "
			  "one of stamps",
			  module, least * 100, most * 100);
}

int checks__module(const struct side sides[2], const char *module, struct notes *warnings)
{
	unsigned int metrics = side__module(run_of(&sides[0], 0), module)->nr_metrics;
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++) {
		err = check_balance(&sides[i], module, warnings);
		if (!err)
			err = check_kernels(&sides[i], module, warnings);
		for (unsigned int j = 0; !err && j < metrics; j++)
			err = check_missing(&sides[i], judge__sides[i], module, j, warnings);
	}
	return err ? err : check_stamps(sides, module, warnings);
}
