// SPDX-License-Identifier: BSD-2-Clause
#include "checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/units.h>
#include <host/account.h>

#include "judge.h"

static const struct run *run_of(const struct group *group, size_t recording)
{
	return group->recordings[recording].run;
}

static int check_complete(const struct group *group, struct notes *warnings)
{
	int err = 0;

	for (size_t i = 0; !err && i < group->nr; i++) {
		if (!run_of(group, i)->complete)
			err = notes__add(warnings,
					 "a recording %s, so the number of waits in flight is "
					 "unknown: %s",
					 run_of(group, i)->running ? "is still running"
								   : "was cut off",
					 group->recordings[i].path);
	}
	return err;
}

static bool same_run(const struct run *a, const struct run *b)
{
	return a->start_mono_ns == b->start_mono_ns && !strcmp(a->start_utc, b->start_utc);
}

/* Warns about a recording that is given twice: it is one observation, not two. */
static int check_copies(const struct group *one, const struct group *other, struct notes *warnings)
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

static int check_filters(const struct group groups[2], struct notes *warnings)
{
	const char *first = filter_of(run_of(&groups[0], 0));

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr; j++) {
			const char *filter = filter_of(run_of(&groups[i], j));

			if (strcmp(filter, first))
				return notes__add(warnings, "the filters differ: %s, but %s on %s",
						  first, filter, judge__groups[i]);
		}
	}
	return 0;
}

/* Of objects, such as disks, compares only the members that both have. NULL is JSON's null. */
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

/* A whole object is too long for a warning: only its name. */
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

static int check_host(const struct run *first, const struct group_recording *recording,
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

/* Warns only about the first host that differs. */
static int check_hosts(const struct group groups[2], struct notes *warnings)
{
	size_t before = warnings->nr;
	int err = 0;

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; !err && warnings->nr == before && j < groups[i].nr; j++)
			err = check_host(run_of(&groups[0], 0), &groups[i].recordings[j], warnings);
	}
	return err;
}

int checks__groups(const struct group groups[2], struct notes *warnings)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++)
		err = check_complete(&groups[i], warnings);
	for (unsigned int i = 0; !err && i < 2; i++)
		err = check_copies(&groups[i], &groups[i], warnings);
	if (!err)
		err = check_copies(&groups[0], &groups[1], warnings);
	if (!err)
		err = check_hosts(groups, warnings);
	return err ? err : check_filters(groups, warnings);
}

static int check_balance(const struct group *group, const char *name, struct notes *warnings)
{
	int err = 0;

	for (size_t i = 0; i < group->nr; i++) {
		const struct run_probe *probe = run__probe(run_of(group, i), name);

		for (unsigned int j = 0; !err && j < probe->nr_metrics; j++) {
			if (run__imbalance(&probe->total.metrics[j]))
				err = notes__add(warnings,
						 "%s %s: the accounting does not balance: %s", name,
						 probe->metrics[j].name, group->recordings[i].path);
		}
	}
	return err;
}

static int check_kernels(const struct group *group, const char *name, struct notes *warnings)
{
	int err = 0;

	for (size_t i = 0; !err && i < group->nr; i++) {
		const struct run_check *check = &run__probe(run_of(group, i), name)->check;

		if ((check->events.known && account__disagrees(&check->events)) ||
		    (check->time.known && account__disagrees(&check->time)))
			err = notes__add(warnings,
					 "%s: its sums differ from %s beyond the tolerance: %s",
					 name, check->source, group->recordings[i].path);
	}
	return err;
}

static int check_missing(const struct group *group, const char *label, const char *name,
			 unsigned int metric, struct notes *warnings)
{
	const struct group_series *series;
	uint64_t tail = 0, away = 0, open = 0;
	char one[UNITS_TEXT], other[UNITS_TEXT];
	const char *metric_name = NULL;

	for (size_t i = 0; i < group->nr; i++) {
		const struct run_probe *probe = run__probe(run_of(group, i), name);

		metric_name = probe->metrics[metric].name;
		away += run__lost(probe, metric);
		open += metric ? 0 : probe->in_flight.count;
	}
	series = group__series(group, name, metric_name, GROUP_WHOLE, "");
	for (size_t i = 0; series && i < series->nr; i++)
		tail += series->observations[i].hist.tail;
	if (away > tail &&
	    notes__add(warnings,
		       "%s %s: %s has lost %s events, more than the %s of its tail: the tail may "
		       "be biased",
		       name, metric_name, label, units__count(one, away),
		       units__count(other, tail)))
		return -ENOMEM;
	if (open > tail)
		return notes__add(
			warnings,
			"%s %s: %s left %s waits in flight at the end, more than the %s of "
			"its tail: the tail may be longer",
			name, metric_name, label, units__count(one, open),
			units__count(other, tail));
	return 0;
}

/*
 * Share of the recorded events whose start is the probe's own stamp, not the kernel's. Those of
 * runqlat agree with the kernel's, because it knows the kernel's account too.
 */
static double own_stamps(const struct run *run, const char *probe)
{
	const struct lat_cell *cell = &run__probe(run, probe)->total.metrics[0];
	uint64_t recorded = run__recorded(cell);
	uint64_t own = cell->counts[LAT_CHECKED] + cell->counts[LAT_FALLBACK];

	return recorded && !cell->counts[LAT_KERNEL_NS] ? (double)own / (double)recorded : 0;
}

/* One method, but two kinds of stamp: they may differ by more than the groups do. */
static bool find_stamps(const struct group groups[2], const char *probe, double *least,
			double *most)
{
	*least = 1;
	*most = 0;
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr; j++) {
			double own = own_stamps(run_of(&groups[i], j), probe);

			*least = own < *least ? own : *least;
			*most = own > *most ? own : *most;
		}
	}
	return *most - *least >= 0.5;
}

bool checks__stamps_differ(const struct group groups[2], const char *probe)
{
	double least, most;

	return find_stamps(groups, probe, &least, &most);
}

static int check_stamps(const struct group groups[2], const char *probe, struct notes *warnings)
{
	double least, most;

	if (!find_stamps(groups, probe, &least, &most))
		return 0;
	return notes__add(
		warnings,
		"%s used its own stamps for %.0f %% of the events of one recording, for "
		"%.0f %% of another, and the kernel's for the rest: the stamps may explain a "
		"difference",
		probe, least * 100, most * 100);
}

/* The methods cost differently, and may begin and end at other places. */
static int check_methods(const struct group groups[2], const char *probe, unsigned int metrics,
			 struct notes *warnings)
{
	const struct run_probe *first = run__probe(run_of(&groups[0], 0), probe), *other;
	bool same = true, all = true;
	int err = 0;

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr; j++) {
			other = run__probe(run_of(&groups[i], j), probe);
			all = all && other->nr_metrics == metrics;
			if (!same || !strcmp(first->method, other->method))
				continue;
			same = false;
			err = notes__add(
				warnings,
				"%s: method %s on %s, but %s on %s: the methods may explain "
				"a difference",
				probe, first->method, judge__groups[0], other->method,
				judge__groups[i]);
		}
	}
	if (!err && !all)
		err = notes__add(
			warnings,
			"%s: not all recordings have the same metrics; only those that all "
			"have are compared",
			probe);
	return err;
}

int checks__probe(const struct group groups[2], const char *probe, struct notes *warnings)
{
	unsigned int metrics = match__metrics(groups, probe);
	int err = check_methods(groups, probe, metrics, warnings);

	for (unsigned int i = 0; !err && i < 2; i++) {
		err = check_balance(&groups[i], probe, warnings);
		if (!err)
			err = check_kernels(&groups[i], probe, warnings);
		for (unsigned int j = 0; !err && j < metrics; j++)
			err = check_missing(&groups[i], judge__groups[i], probe, j, warnings);
	}
	return err ? err : check_stamps(groups, probe, warnings);
}
