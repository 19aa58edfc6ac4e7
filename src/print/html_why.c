// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/split.h>
#include <store/json_print.h>

#include "html_data.h"

#define FRAMES 16 /* of a stack */

static struct html_pair *find_pair(struct html_why *why, const char *victim, const char *part,
				   const char *culprit)
{
	for (size_t i = 0; i < why->nr_pairs; i++) {
		struct html_pair *pair = &why->pairs[i];

		if (!strcmp(pair->part, part) && why_tasks__same_name(pair->victim, victim) &&
		    why_tasks__same_name(pair->culprit, culprit))
			return pair;
	}
	return NULL;
}

static void add_line(struct html_why *why, const struct why_line *line)
{
	const char *culprit = line->culprit ? line->culprit : "";
	struct html_pair *pair = find_pair(why, line->victim, line->part, culprit);

	if (!pair) {
		pair = &why->pairs[why->nr_pairs++];
		*pair = (struct html_pair){ .victim = line->victim,
					    .part = line->part,
					    .culprit = culprit };
	}
	pair->victims |= strcmp(pair->victim, line->victim) != 0;
	pair->culprits |= strcmp(pair->culprit, culprit) != 0;
	pair->ns += line->ns;
}

static int by_time(const void *left, const void *right)
{
	uint64_t a = ((const struct html_pair *)left)->ns,
		 b = ((const struct html_pair *)right)->ns;

	return a > b ? -1 : a < b;
}

static int start_pairs(struct html_why *why, const struct run_probe *probe, const struct run *run)
{
	int err = why_summary__of(&why->summary, probe, run);

	if (err)
		return err;
	why->pairs = calloc(why->summary.nr_lines + 1, sizeof(*why->pairs));
	if (!why->pairs)
		return -ENOMEM;
	for (size_t i = 0; i < why->summary.nr_lines; i++)
		add_line(why, &why->summary.lines[i]);
	qsort(why->pairs, why->nr_pairs, sizeof(*why->pairs), by_time);
	why->nr_shown = why->nr_pairs < HTML_PAIRS ? why->nr_pairs : HTML_PAIRS;
	for (size_t i = 0; !err && i < why->nr_shown; i++)
		err = html_series__open(&why->pairs[i].sums.series);
	return err;
}

int html_why__start(struct html_why *why, const struct run *run, const struct run_probe *probe)
{
	int err;

	why->used = true;
	why->slow = calloc((size_t)HTML_SLOW_SPANS * HTML_SLOW_EACH, sizeof(*why->slow));
	if (!why->slow)
		return -ENOMEM;
	err = start_pairs(why, probe, run);
	for (unsigned int i = 0; !err && i < WHY_PARTS; i++)
		err = html_series__open(&why->parts[i].series);
	return err ? err : html_series__open(&why->others.series);
}

void html_why__clear(struct html_why *why)
{
	for (unsigned int i = 0; i < WHY_PARTS; i++)
		html_series__clear(&why->parts[i].series);
	for (size_t i = 0; i < why->nr_shown; i++)
		html_series__clear(&why->pairs[i].sums.series);
	html_series__clear(&why->others.series);
	free(why->pairs);
	why_summary__clear(&why->summary);
	free(why->slow);
}

static const char *text_of(const struct table *table, size_t row, unsigned int column)
{
	struct table_value value = table__value(table, row, column);

	return value.known && value.kind == TABLE_TEXT ? value.text : "";
}

static uint64_t number_of(const struct table *table, size_t row, unsigned int column)
{
	struct table_value value = table__value(table, row, column);

	return value.known && value.kind == TABLE_INTEGER && value.integer > 0
		       ? (uint64_t)value.integer
		       : 0;
}

static void add(struct html_sums *to, uint64_t ns, uint64_t events)
{
	to->ns += ns;
	to->events += events;
}

static void add_pair(struct html_why *why, const struct run_probe *probe, size_t row)
{
	const struct table *table = probe->why->parts;
	uint64_t ns = number_of(table, row, WHY_NS), events = number_of(table, row, WHY_EVENTS);
	const char *name = text_of(table, row, WHY_PART);
	int part = why__find_part(probe->name, name);
	const struct html_pair *pair = find_pair(why, text_of(table, row, WHY_VICTIM), name,
						 text_of(table, row, WHY_CULPRIT));

	if (part >= 0 && part < WHY_PARTS)
		add(&why->parts[part], ns, events);
	if (pair && pair < why->pairs + why->nr_shown)
		add(&why->pairs[pair - why->pairs].sums, ns, events);
	else
		add(&why->others, ns, events);
}

/* The slowest events of each span, in any order. */
static void add_slow(struct html_why *why, const struct run_why *from, size_t row, size_t span)
{
	struct why_slow *slowest = why->slow + span * HTML_SLOW_EACH, *least = slowest;

	for (unsigned int i = 1; i < HTML_SLOW_EACH; i++) {
		if (slowest[i].ns < least->ns)
			least = &slowest[i];
	}
	if (number_of(from->events, row, WHY_SLOW_NS) > least->ns)
		why__read_slow(from, row, least);
}

int html_why__add(struct html_why *why, const struct run_probe *probe, size_t column,
		  size_t columns)
{
	size_t span = columns > HTML_SLOW_SPANS ? column * HTML_SLOW_SPANS / columns : column;

	for (size_t row = 0; row < table__rows(probe->why->parts); row++)
		add_pair(why, probe, row);
	for (size_t row = 0; row < table__rows(probe->why->events); row++)
		add_slow(why, probe->why, row, span);
	return 0;
}

static void end_sums(struct html_sums *sums)
{
	html_series__sums(&sums->series, sums->events, sums->ns, 0);
	sums->ns = sums->events = 0;
}

void html_why__end_column(struct html_why *why)
{
	if (!why->used)
		return;
	for (unsigned int i = 0; i < WHY_PARTS; i++)
		end_sums(&why->parts[i]);
	for (size_t i = 0; i < why->nr_shown; i++)
		end_sums(&why->pairs[i].sums);
	end_sums(&why->others);
}

/* ---- JSON ---- */

static struct json_object *parts_json(struct html_why *why, const struct run_probe *probe)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < WHY_PARTS; i++) {
		struct json_object *object;

		if (!why__part(probe->name, i)->name)
			continue;
		object = json_object_new_object();
		fields__text(object, "name", why__part(probe->name, i)->name);
		fields__text(object, "what", why__part(probe->name, i)->what);
		fields__put(object, "sums", html_series__json(&why->parts[i].series));
		json_object_array_add(array, object);
	}
	return array;
}

/* Without the ID of a task, if there are several of this name. */
static struct json_object *name_json(const char *name, bool several)
{
	size_t len = several ? split__name_length(name) : strlen(name);

	return json_object_new_string_len(name, (int)len);
}

static struct json_object *make_pair(const void *pairs, size_t at)
{
	/* The series ends what it has when it becomes JSON. */
	struct html_pair *pair = (struct html_pair *)pairs + at;
	struct json_object *object = json_object_new_object();

	fields__put(object, "victim", name_json(pair->victim, pair->victims));
	fields__text(object, "part", pair->part);
	fields__put(object, "culprit",
		    *pair->culprit ? name_json(pair->culprit, pair->culprits) : NULL);
	fields__put(object, "sums", html_series__json(&pair->sums.series));
	return object;
}

/* Names of the frames, innermost first. */
static struct json_object *stack_json(const struct frames *frames, uint64_t pid, const char *stack)
{
	struct frames_walk walk = frames__walk(frames, pid, stack, FRAMES);
	struct json_object *array = json_object_new_array();
	const char *frame;
	char text[FRAME_TEXT];

	while ((frame = frames__walk_next(&walk, text)))
		json_object_array_add(array, json_object_new_string(frame));
	return array;
}

static struct json_object *culprits_json(const struct why_slow *slow)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < WHY_CULPRITS && slow->culprits[i].ns; i++) {
		struct json_object *culprit = json_object_new_array();

		json_object_array_add(culprit, json_object_new_string(slow->culprits[i].name));
		json_object_array_add(culprit, json_object_new_string(slow->culprits[i].part));
		json_object_array_add(culprit, json_object_new_uint64(slow->culprits[i].ns));
		json_object_array_add(array, culprit);
	}
	return array;
}

static struct json_object *slow_json(const struct run *run, const struct run_probe *probe,
				     const struct why_slow *slow)
{
	struct json_object *object = json_object_new_object();
	struct json_object *parts = json_object_new_object();

	fields__count(object, "time_ns", slow->time_ns);
	fields__count(object, "ns", slow->ns);
	fields__text(object, "process", slow->process);
	fields__text(object, "comm", slow->comm);
	fields__text(object, "cgroup", slow->cgroup);
	fields__put(object, "tid", json_object_new_int64(slow->tid));
	fields__put(object, "cpu", json_object_new_int64(slow->cpu));
	fields__text(object, "waker", *slow->waker ? slow->waker : NULL);
	if (*slow->disk) {
		fields__text(object, "disk", slow->disk);
		fields__text(object, "op", slow->op);
		fields__count(object, "bytes", slow->bytes);
	}
	for (unsigned int i = 0; i < WHY_PARTS; i++) {
		if (why__part(probe->name, i)->name && slow->part_ns[i])
			fields__count(parts, why__part(probe->name, i)->name, slow->part_ns[i]);
	}
	fields__put(object, "parts", parts);
	fields__put(object, "culprits", culprits_json(slow));
	fields__put(object, "stack_tid", json_object_new_int64(slow->stack_tid));
	fields__put(object, "kernel", stack_json(&run->frames, 0, slow->kernel_stack));
	fields__put(object, "user",
		    stack_json(&run->frames, (uint64_t)slow->stack_pid, slow->user_stack));
	return object;
}

struct json_object *html_why__json(struct html_why *why, const struct run *run,
				   const struct run_probe *probe)
{
	struct json_object *object = json_object_new_object();
	struct json_object *slow = json_object_new_array();

	fields__text(object, "conclusion", why->summary.sentence);
	fields__count(object, "metric", why__words(probe->name)->metric);
	fields__put(object, "parts", parts_json(why, probe));
	fields__list(object, "pairs", why->nr_shown, make_pair, why->pairs);
	fields__count(object, "nr_others", why->nr_pairs - why->nr_shown);
	fields__put(object, "others", html_series__json(&why->others.series));
	for (size_t i = 0; i < (size_t)HTML_SLOW_SPANS * HTML_SLOW_EACH; i++) {
		if (why->slow[i].ns)
			json_object_array_add(slow, slow_json(run, probe, &why->slow[i]));
	}
	fields__put(object, "slow", slow);
	return object;
}
