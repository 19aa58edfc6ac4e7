// SPDX-License-Identifier: BSD-2-Clause
#include <json-c/json.h>

#include "ringlat.h"

static void put(struct json_object *to, const char *name, struct json_object *value)
{
	json_object_object_add(to, name, value);
}

static struct json_object *number(double value, int decimals)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*f", decimals, value);
	return json_object_new_double_s(value, text);
}

/* In ticks, or in ns if khz is given. */
static struct json_object *summary_json(const struct ring_summary *summary, uint64_t khz)
{
	const struct {
		const char *name;
		double value;
	} fields[] = {
		{ "min", summary->min }, { "p50", summary->p50 },    { "mean", summary->mean },
		{ "p99", summary->p99 }, { "p99_9", summary->p999 }, { "max", summary->max },
	};
	struct json_object *object = json_object_new_object();

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		put(object, fields[i].name,
		    khz ? number(ring__ns(fields[i].value, khz), 2) : number(fields[i].value, 1));
	return object;
}

/* [low, high, count] each, in ticks as counted. */
static struct json_object *buckets_json(const struct ring_hist *hist)
{
	struct json_object *array = json_object_new_array();
	struct ring_bucket bucket = { 0 };

	while (ring_hist__next(hist, &bucket)) {
		struct json_object *one = json_object_new_array();

		json_object_array_add(one, json_object_new_uint64(bucket.low));
		json_object_array_add(one, json_object_new_uint64(bucket.high));
		json_object_array_add(one, json_object_new_uint64(bucket.count));
		json_object_array_add(array, one);
	}
	return array;
}

static struct json_object *way_json(const struct ring_result *result,
				    const struct ring_count *count, unsigned int way,
				    bool histogram)
{
	struct json_object *object = json_object_new_object();
	struct ring_summary summary;

	ring_summary__of(&summary, &count->ways[way], ring_count__baseline(result, count, way));
	put(object, "way", json_object_new_string(ring_count__way(count, way)));
	put(object, "baseline_cycles", number(summary.baseline, 1));
	put(object, "empty_cycles", number(ring_count__empty_cycles(count, way), 1));
	put(object, "baseline_windows", json_object_new_uint64(count->empty[way].count));
	put(object, "sum_cycles", json_object_new_uint64(count->ways[way].sum));
	put(object, "cycles", summary_json(&summary, 0));
	put(object, "ns", summary_json(&summary, result->tsc_khz));
	if (histogram) {
		put(object, "histogram", buckets_json(&count->ways[way]));
		put(object, "baseline_histogram", buckets_json(&count->empty[way]));
	}
	return object;
}

static struct json_object *event_json(const struct ring_result *result,
				      const struct ring_count *count, bool histogram)
{
	struct json_object *object = json_object_new_object();
	struct json_object *misses = json_object_new_object();
	struct json_object *ways = json_object_new_array();

	for (unsigned int i = RING_KEPT + 1; i < RING_VERDICTS; i++)
		put(misses, ring_verdict__name(i), json_object_new_uint64(count->misses[i]));
	for (unsigned int way = 0; way < count->nr_ways; way++)
		json_object_array_add(ways, way_json(result, count, way, histogram));
	put(object, "event", json_object_new_string(count->event->name));
	put(object, "what", json_object_new_string(count->event->what));
	put(object, "round_trip", json_object_new_boolean(count->event->round_trip));
	put(object, "attempted", json_object_new_uint64(count->attempted));
	put(object, "kept", json_object_new_uint64(count->kept));
	put(object, "misses", misses);
	put(object, "vm_exits", json_object_new_uint64(count->vm_exits));
	put(object, "clock_ns", json_object_new_uint64(count->clock_ns));
	put(object, "ways", ways);
	return object;
}

static struct json_object *where_json(const struct ring_result *result)
{
	const struct ring_where *where = &result->where;
	struct json_object *object = json_object_new_object();

	put(object, "place", json_object_new_string(ring_place__name(where->place)));
	put(object, "evidence", json_object_new_string(where->evidence));
	put(object, "cpu_model", json_object_new_string(where->cpu_model));
	put(object, "microcode", json_object_new_string(where->microcode));
	put(object, "cpu", json_object_new_int(result->cpu));
	put(object, "kpti", json_object_new_string(where->kpti));
	put(object, "ibrs", json_object_new_string(where->ibrs));
	put(object, "retbleed", json_object_new_string(where->retbleed));
	put(object, "verw", json_object_new_string(where->verw));
	put(object, "fred", json_object_new_string(where->fred));
	return object;
}

/* null: the method has no guest. */
static struct json_object *control_json(const struct ring_control *control)
{
	struct json_object *object;

	if (!control->cpuids)
		return NULL;
	object = json_object_new_object();
	put(object, "cpuids", json_object_new_uint64(control->cpuids));
	put(object, "vm_exits", json_object_new_uint64(control->exits));
	put(object, "exit_cycles", json_object_new_uint64(control->cycles));
	return object;
}

struct json_object *ringlat__json(const struct ring_result *result, bool histogram)
{
	struct json_object *object = json_object_new_object();
	struct json_object *events = json_object_new_array();

	for (unsigned int i = 0; i < result->nr_events; i++)
		json_object_array_add(events, event_json(result, &result->events[i], histogram));
	put(object, "method", json_object_new_string(result->method->name));
	put(object, "mechanism", json_object_new_string(result->method->mechanism));
	put(object, "tsc_khz", json_object_new_uint64(result->tsc_khz));
	put(object, "interrupted", json_object_new_boolean(result->interrupted));
	put(object, "where", where_json(result));
	put(object, "control", control_json(&result->control));
	put(object, "events", events);
	return object;
}
