// SPDX-License-Identifier: BSD-2-Clause
/* State of the emulator that can be read besides registers. */
#include "emulator.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static const char *const parts[] = {
	[MAP_BOX] = "box",
	[MAP_STATUS] = "status",
	[MAP_CONTROL] = "control",
	[MAP_COUNTER] = "counter",
	[MAP_FILTER] = "filter",
	[MAP_GLOBAL] = "global",
	[MAP_CLOCK_CONTROL] = "clock_control",
	[MAP_CLOCK] = "clock",
	[MAP_COUNT] = "count",
	[MAP_TSC] = "tsc",
	[MAP_NONE] = "none",
};

static void add_int(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_int64(value));
}

static void add_double(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key, json_object_new_double(value));
}

static void add_hex(struct json_object *object, const char *key, uint64_t value)
{
	char text[20];

	snprintf(text, sizeof(text), "%#llx", (unsigned long long)value);
	json_object_object_add(object, key, json_object_new_string(text));
}

/* Puts the object. */
static char *as_text(struct json_object *object, size_t *length)
{
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY);
	char *copy = text ? strdup(text) : NULL;

	*length = copy ? strlen(copy) : 0;
	json_object_put(object);
	return copy;
}

static struct json_object *by_part(const uint64_t count[])
{
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i <= MAP_NONE; i++)
		add_int(object, parts[i], count[i]);
	return object;
}

/* The machine's own account of each stream: the reference. */
static struct json_object *streams(const struct machine *machine)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < machine->streams; i++) {
		const struct stream *stream = &machine->stream[i];
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "name", json_object_new_string(stream->name));
		add_double(object, "rate", stream->rate);
		add_double(object, "latency", stream->latency);
		add_double(object, "occupancy", stream->rate * stream->latency * 1e-9);
		json_object_array_add(array, object);
	}
	return array;
}

static void add_change(struct json_object *array, unsigned int socket, uint64_t reg, uint64_t found,
		       uint64_t now)
{
	struct json_object *object;

	if (found == now)
		return;
	object = json_object_new_object();
	add_int(object, "socket", socket);
	add_hex(object, "register", reg);
	add_hex(object, "found", found);
	add_hex(object, "now", now);
	json_object_array_add(array, object);
}

static uint64_t content(const struct box *box, struct map_place place)
{
	switch (place.part) {
	case MAP_BOX:
		return box->control;
	case MAP_FILTER:
		return box->filter[place.index];
	case MAP_CONTROL:
		return box->counter[place.index].control;
	default:
		return box->counter[place.index].count;
	}
}

/* The registers of one part that are not as they were found. */
static struct json_object *changes(const struct emulator *emulator, enum map_part part,
				   unsigned int indices)
{
	const struct machine *machine = &emulator->machine;
	struct json_object *array = json_object_new_array();
	struct map_place place = { .part = part };

	for (unsigned int i = 0; i < machine->sockets; i++)
		for (place.box = 0; place.box < machine->boxes; place.box++)
			for (place.index = 0; place.index < indices; place.index++)
				add_change(array, i, map__register(machine->map, place),
					   content(&emulator->found[i].box[place.box], place),
					   content(&machine->socket[i].box[place.box], place));
	return array;
}

char *emulator__changed(struct emulator *emulator, size_t *length)
{
	static const unsigned int indices[] = {
		[MAP_BOX] = 1,
		[MAP_CONTROL] = MAP_COUNTERS,
		[MAP_COUNTER] = MAP_COUNTERS,
		[MAP_FILTER] = MAP_FILTERS,
	};
	struct json_object *object = json_object_new_object();

	machine__settle(&emulator->machine);
	for (unsigned int i = 0; i <= MAP_FILTER; i++)
		if (indices[i])
			json_object_object_add(object, parts[i], changes(emulator, i, indices[i]));
	return as_text(object, length);
}

/* The largest number of reads of one counter, and the overflows of all. */
static void add_counters(struct json_object *state, const struct machine *machine)
{
	uint64_t most = 0, wraps = 0;

	for (unsigned int i = 0; i < machine->sockets; i++)
		for (unsigned int j = 0; j < machine->boxes * MAP_COUNTERS; j++) {
			const struct box *box = &machine->socket[i].box[j / MAP_COUNTERS];
			const struct counter *counter = &box->counter[j % MAP_COUNTERS];

			wraps += counter->wraps;
			most = counter->reads > most ? counter->reads : most;
		}
	add_int(state, "most_reads", most);
	add_int(state, "wraps", wraps);
}

char *emulator__state(struct emulator *emulator, size_t *length)
{
	struct json_object *state = json_object_new_object();

	add_int(state, "now", emulator__now(emulator));
	machine__settle(&emulator->machine);
	json_object_object_add(state, "error", json_object_new_string(emulator->error));
	json_object_object_add(state, "streams", streams(&emulator->machine));
	add_double(state, "p", emulator->machine.loop.p);
	add_int(state, "moves", emulator->moves);
	add_int(state, "opens", emulator->opens);
	add_int(state, "accesses", emulator->accesses);
	json_object_object_add(state, "reads", by_part(emulator->reads));
	json_object_object_add(state, "writes", by_part(emulator->writes));
	add_counters(state, &emulator->machine);
	return as_text(state, length);
}

/* One line each: socket, register, old value, written value. */
char *emulator__writes(const struct emulator *emulator, size_t *length)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	if (!stream)
		return NULL;
	for (unsigned int i = 0; i < emulator->logged && i < EMULATOR_LOG; i++) {
		const struct logged *write = &emulator->log[i];

		fprintf(stream, "%u %#llx %#llx %#llx\n", write->socket,
			(unsigned long long)write->reg, (unsigned long long)write->old,
			(unsigned long long)write->new);
	}
	if (emulator->logged > EMULATOR_LOG)
		fprintf(stream, "%u more\n", emulator->logged - EMULATOR_LOG);
	fclose(stream);
	return text;
}
