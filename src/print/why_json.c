// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <json-c/json.h>

#include <stats/why.h>
#include <store/json_print.h>

static struct json_object *json_parts(const struct run_probe *probe, const uint64_t *part_ns)
{
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i < WHY_PARTS; i++)
		if (why__part(probe->name, i))
			fields__count(object, why__part(probe->name, i), part_ns[i]);
	return object;
}

static struct json_object *json_culprits(const struct why_slow *slow)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < WHY_CULPRITS && slow->culprits[i].ns; i++) {
		struct json_object *object = json_object_new_object();

		fields__text(object, "name", slow->culprits[i].name);
		fields__text(object, "part", slow->culprits[i].part);
		fields__count(object, "ns", slow->culprits[i].ns);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_slow(const struct run_probe *probe, const struct why_slow *slow)
{
	struct json_object *object = json_object_new_object();

	fields__count(object, "time_ns", slow->time_ns);
	fields__count(object, "ns", slow->ns);
	json_object_object_add(object, "pid", json_object_new_int64(slow->pid));
	fields__text(object, "process", slow->process);
	json_object_object_add(object, "tid", json_object_new_int64(slow->tid));
	fields__text(object, "comm", slow->comm);
	fields__text(object, "cgroup", slow->cgroup);
	json_object_object_add(object, "cpu", json_object_new_int64(slow->cpu));
	if (slow->waker_tid) {
		json_object_object_add(object, "waker_tid", json_object_new_int64(slow->waker_tid));
		fields__text(object, "waker", slow->waker);
	}
	json_object_object_add(object, "parts_ns", json_parts(probe, slow->part_ns));
	json_object_object_add(object, "culprits", json_culprits(slow));
	if (slow->stack_tid)
		json_object_object_add(object, "stack_tid", json_object_new_int64(slow->stack_tid));
	fields__text(object, "kernel_stack", slow->kernel_stack);
	fields__text(object, "user_stack", slow->user_stack);
	return object;
}

static void add_one(struct json_object *why, const struct run_probe *probe)
{
	struct json_object *slowest = json_object_new_array();
	struct why_summary summary;

	if (!why_summary__of(&summary, probe)) {
		fields__text(why, "conclusion", summary.sentence);
		json_object_object_add(why, "parts_ns", json_parts(probe, summary.part_ns));
	}
	why_summary__clear(&summary);
	for (unsigned int i = 0; i < probe->why->nr_slowest; i++)
		json_object_array_add(slowest, json_slow(probe, &probe->why->slowest[i]));
	json_object_object_add(why, "slowest", slowest);
}

void why_json__add(struct json_object *object, const struct run *run)
{
	struct json_object *probes, *why;

	if (!json_object_object_get_ex(object, "probes", &probes))
		return;
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (run->probes[i].why &&
		    json_object_object_get_ex(json_object_array_get_idx(probes, i), "why", &why))
			add_one(why, &run->probes[i]);
}
