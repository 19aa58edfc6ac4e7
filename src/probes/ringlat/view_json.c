// SPDX-License-Identifier: BSD-2-Clause
#include <json-c/json.h>

#include <store/json_print.h>

#include "view.h"

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
		fields__put(object, fields[i].name,
			    khz ? number(ring__ns(fields[i].value, khz), 2)
				: number(fields[i].value, 1));
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
	fields__text(object, "way", ring_count__way(count, way));
	fields__put(object, "baseline_cycles", number(summary.baseline, 1));
	fields__put(object, "empty_cycles", number(ring_count__empty_cycles(count, way), 1));
	fields__count(object, "baseline_windows", count->empty[way].count);
	fields__count(object, "sum_cycles", count->ways[way].sum);
	fields__put(object, "cycles", summary_json(&summary, 0));
	fields__put(object, "ns", summary_json(&summary, result->tsc_khz));
	if (histogram) {
		fields__put(object, "histogram", buckets_json(&count->ways[way]));
		fields__put(object, "baseline_histogram", buckets_json(&count->empty[way]));
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
		fields__count(misses, ring_verdict__name(i), count->misses[i]);
	for (unsigned int way = 0; way < count->nr_ways; way++)
		json_object_array_add(ways, way_json(result, count, way, histogram));
	fields__text(object, "event", count->event->name);
	fields__text(object, "what", count->event->what);
	fields__flag(object, "round_trip", count->event->round_trip);
	fields__count(object, "attempted", count->attempted);
	fields__count(object, "kept", count->kept);
	fields__put(object, "misses", misses);
	fields__count(object, "vm_exits", count->vm_exits);
	fields__count(object, "clock_ns", count->clock_ns);
	fields__put(object, "ways", ways);
	return object;
}

static struct json_object *where_json(const struct ring_result *result)
{
	const struct ring_where *where = &result->where;
	struct json_object *object = json_object_new_object();

	fields__text(object, "place", ring_place__name(where->place));
	fields__text(object, "evidence", where->evidence);
	fields__text(object, "cpu_model", where->cpu_model);
	fields__text(object, "microcode", where->microcode);
	fields__put(object, "cpu", json_object_new_int(result->cpu));
	fields__text(object, "kpti", where->kpti);
	fields__text(object, "ibrs", where->ibrs);
	fields__text(object, "retbleed", where->retbleed);
	fields__text(object, "verw", where->verw);
	fields__text(object, "fred", where->fred);
	return object;
}

/* null: the method has no guest. */
static struct json_object *control_json(const struct ring_control *control)
{
	struct json_object *object;

	if (!control->cpuids)
		return NULL;
	object = json_object_new_object();
	fields__count(object, "cpuids", control->cpuids);
	fields__count(object, "vm_exits", control->exits);
	fields__count(object, "exit_cycles", control->cycles);
	return object;
}

struct json_object *ringlat__json(const struct ring_result *result, bool histogram)
{
	struct json_object *object = json_object_new_object();
	struct json_object *events = json_object_new_array();

	for (unsigned int i = 0; i < result->nr_events; i++)
		json_object_array_add(events, event_json(result, &result->events[i], histogram));
	fields__text(object, "method", result->method->name);
	fields__text(object, "mechanism", result->method->mechanism);
	fields__count(object, "tsc_khz", result->tsc_khz);
	fields__flag(object, "interrupted", result->interrupted);
	fields__put(object, "where", where_json(result));
	fields__put(object, "control", control_json(&result->control));
	fields__put(object, "events", events);
	return object;
}
