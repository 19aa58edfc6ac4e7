// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <inttypes.h>
#include <stdio.h>

#include <json-c/json.h>

#include <core/split.h>
#include <stats/why.h>
#include <store/json_print.h>

static struct json_object *json_parts(const struct run_probe *probe, const uint64_t *part_ns)
{
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i < WHY_PARTS; i++)
		if (why__part(probe->name, i)->name)
			fields__count(object, why__part(probe->name, i)->name, part_ns[i]);
	return object;
}

static struct json_object *make_culprit(const void *culprits, size_t at)
{
	const struct why_slow_culprit *culprit = (const struct why_slow_culprit *)culprits + at;
	struct json_object *object = json_object_new_object();

	fields__text(object, "name", culprit->name);
	fields__text(object, "part", culprit->part);
	fields__count(object, "ns", culprit->ns);
	return object;
}

static size_t count_culprits(const struct why_slow *slow)
{
	size_t nr = 0;

	while (nr < WHY_CULPRITS && slow->culprits[nr].ns)
		nr++;
	return nr;
}

/* Its frames, innermost first: [{"address": "7f00", "name": "read+0x1d", "place": "libc.so.6"}]. */
static struct json_object *json_stack(const struct frames *frames, uint64_t pid, const char *stack)
{
	struct json_object *array = json_object_new_array();
	const struct frame *frame = NULL;
	char text[24];
	uint64_t address;

	if (!pid)
		frames__skip_tracing(frames, &stack);
	while (frames__next(&stack, &address)) {
		struct json_object *object = json_object_new_object();

		frame = frames__find(frames, pid, address);
		snprintf(text, sizeof(text), "%" PRIx64, address);
		fields__text(object, "address", text);
		if (frame && *frame->name)
			fields__text(object, "name", frame->name);
		if (frame && *frame->place)
			fields__text(object, "place", frame->place);
		json_object_array_add(array, object);
	}
	return array;
}

/* Does the stack end too early, for lack of frame pointers? */
static bool is_truncated(const struct frames *frames, uint64_t pid, const char *stack)
{
	const struct frame *frame = NULL;
	uint64_t address;

	while (frames__next(&stack, &address))
		frame = frames__find(frames, pid, address);
	return frame && frame->truncated;
}

static struct json_object *json_slow(const struct run *run, const struct run_probe *probe,
				     const struct why_slow *slow)
{
	struct json_object *object = json_object_new_object();
	uint64_t pid = (uint64_t)slow->stack_pid;

	fields__count(object, "time_ns", slow->time_ns);
	fields__count(object, "ns", slow->ns);
	fields__put(object, "pid", json_object_new_int64(slow->pid));
	fields__text(object, "process", slow->process);
	fields__put(object, "tid", json_object_new_int64(slow->tid));
	fields__text(object, "comm", slow->comm);
	fields__text(object, "cgroup", slow->cgroup);
	fields__put(object, "cpu", json_object_new_int64(slow->cpu));
	if (slow->waker_tid)
		fields__put(object, "waker_tid", json_object_new_int64(slow->waker_tid));
	if (*slow->waker)
		fields__text(object, "waker", slow->waker);
	if (*slow->disk) {
		fields__text(object, "disk", slow->disk);
		fields__text(object, "op", slow->op);
		if (slow->sector != WHY_NO_SECTOR)
			fields__count(object, "sector", slow->sector);
		fields__count(object, "bytes", slow->bytes);
	}
	fields__put(object, "parts_ns", json_parts(probe, slow->part_ns));
	fields__list(object, "culprits", count_culprits(slow), make_culprit, slow->culprits);
	if (slow->stack_tid)
		fields__put(object, "stack_tid", json_object_new_int64(slow->stack_tid));
	fields__put(object, "kernel_stack", json_stack(&run->frames, 0, slow->kernel_stack));
	fields__put(object, "user_stack", json_stack(&run->frames, pid, slow->user_stack));
	if (is_truncated(&run->frames, pid, slow->user_stack))
		fields__flag(object, "user_stack_truncated", true);
	return object;
}

/* Tasks of one name are one entry; they sum to the time of all slow samples. */
static struct json_object *make_name(const void *of, size_t at)
{
	const struct why_summary *summary = of;
	const struct why_line *line = &summary->names[at];
	struct json_object *object = json_object_new_object();
	char name[WHY_CROWD];

	fields__text(object, "victim", why_summary__victim(summary, line, name));
	fields__text(object, "part", line->part);
	fields__text(object, "culprit",
		     line->culprit ? why_summary__culprit(summary, line, name) : NULL);
	fields__count(object, "ns", line->ns);
	return object;
}

static void add_one(struct json_object *why, const struct run *run, const struct run_probe *probe)
{
	struct json_object *slowest = json_object_new_array();
	struct why_summary summary;

	if (!why_summary__of(&summary, probe, run)) {
		fields__text(why, "by", run->why_by ? split__name(run->why_by - 1) : NULL);
		fields__text(why, "conclusion", summary.sentence);
		if (probe->why->disks[0])
			fields__text(why, "disks", probe->why->disks);
		fields__flag(why, "few", probe->why->few);
		fields__count(why, "own_ns", probe->why->of_latscope_ns);
		fields__put(why, "parts_ns", json_parts(probe, summary.part_ns));
		fields__list(why, "names", summary.nr_names, make_name, &summary);
	}
	why_summary__clear(&summary);
	for (unsigned int i = 0; i < probe->why->nr_slowest; i++)
		json_object_array_add(slowest, json_slow(run, probe, &probe->why->slowest[i]));
	fields__put(why, "slowest", slowest);
}

void why_json__add(struct json_object *object, const struct run *run)
{
	struct json_object *probes, *why;

	if (!json_object_object_get_ex(object, "probes", &probes))
		return;
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (run->probes[i].why &&
		    json_object_object_get_ex(json_object_array_get_idx(probes, i), "why", &why))
			add_one(why, run, &run->probes[i]);
}
