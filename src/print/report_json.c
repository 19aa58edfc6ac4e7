// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include <json-c/json.h>

#include <core/split.h>
#include <store/json_print.h>

#include "report.h"

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static struct json_object *make_probe(const void *probes, size_t at)
{
	const struct timeline_probe *probe = (const struct timeline_probe *)probes + at;
	struct json_object *object = json_object_new_object();

	fields__text(object, "probe", probe->probe->name);
	fields__text(object, "metric", probe->probe->metrics[0].name);
	fields__number(object, "slow_us", (double)probe->slow_ns / 1e3);
	fields__count(object, "events", probe->events);
	fields__count(object, "slow_events", probe->slow);
	fields__number(object, "slow_share", share(probe->slow, probe->events));
	fields__count(object, "intervals_without_events", probe->empty);
	return object;
}

static struct json_object *cell_json(const struct timeline_probe *probe, size_t at)
{
	struct json_object *object = json_object_new_object();
	const struct timeline_cell *cell = &probe->cells[at];

	fields__text(object, "probe", probe->probe->name);
	fields__count(object, "events", cell->events);
	fields__count(object, "slow_events", cell->slow);
	fields__number(object, "slow_share", share(cell->slow, cell->events));
	fields__number(object, "p99_us", cell->events ? (double)cell->p99_ns / 1e3 : NAN);
	fields__number(object, "max_us", cell->events ? (double)cell->max_ns / 1e3 : NAN);
	fields__flag(object, "worst_quarter", probe->is_worst[at]);
	return object;
}

static struct json_object *make_interval(const void *of, size_t at)
{
	const struct timeline *timeline = of;
	struct json_object *object = json_object_new_object();
	struct json_object *probes = json_object_new_array();

	fields__number(object, "start_sec", (double)timeline->start_ns[at] / 1e9);
	fields__number(object, "end_sec", (double)timeline->end_ns[at] / 1e9);
	fields__flag(object, "correlated", timeline->correlated[at]);
	for (unsigned int i = 0; i < timeline->nr_probes; i++)
		json_object_array_add(probes, cell_json(&timeline->probes[i], at));
	fields__put(object, "probes", probes);
	return object;
}

static struct json_object *timeline_json(const struct timeline *timeline)
{
	struct json_object *object = json_object_new_object();

	fields__list(object, "probes", timeline->nr_probes, make_probe, timeline->probes);
	fields__list(object, "intervals", timeline->nr, make_interval, timeline);
	fields__count(object, "longer_intervals", timeline->nr_longer);
	return object;
}

static struct json_object *make_pair(const void *of, size_t at)
{
	const struct timeline *timeline = of;
	const struct timeline_pair *pair = &timeline->pairs[at];
	const unsigned int members[] = { pair->a, pair->b };
	struct json_object *object = json_object_new_object();
	struct json_object *probes = json_object_new_array();

	for (unsigned int i = 0; i < 2; i++)
		json_object_array_add(
			probes, json_object_new_string(timeline->probes[members[i]].probe->name));
	fields__put(object, "probes", probes);
	fields__text(object, "verdict", timeline__word(pair->verdict));
	fields__number(object, "rho", pair->found.rho);
	fields__number(object, "rho_low", pair->found.low);
	fields__number(object, "rho_high", pair->found.high);
	fields__number(object, "effective_intervals",
		       isnan(pair->found.rho) ? NAN : pair->found.effective);
	fields__number(object, "p", pair->found.p);
	fields__number(object, "p_adjusted", pair->adjusted);
	fields__text(object, "reason", pair->why[0] ? pair->why : NULL);
	fields__count(object, "intervals_in_both_worst_quarters", pair->both);
	fields__number(object, "by_chance", pair->by_chance);
	return object;
}

static struct json_object *correlation_json(const struct timeline *timeline)
{
	struct json_object *object = json_object_new_object();

	fields__number(object, "confidence", timeline->rules.confidence);
	fields__count(object, "intervals", timeline->nr_correlated);
	fields__list(object, "pairs", timeline->nr_pairs, make_pair, timeline);
	return object;
}

static struct json_object *make_contributor(const void *of, size_t at)
{
	const struct timeline *timeline = of;
	const struct timeline_contributor *contributor = &timeline->contributors[at];
	const struct timeline_probe *probe = &timeline->probes[contributor->probe];
	struct json_object *object = json_object_new_object();
	bool other = contributor->key->key.id == RUN_OTHER_ID;

	fields__text(object, "probe", probe->probe->name);
	fields__text(object, "by", split__name(contributor->key->key.by));
	fields__put(object, "id", other ? NULL : json_object_new_uint64(contributor->key->key.id));
	fields__text(object, "name", contributor->key->name);
	fields__count(object, "events", contributor->events);
	fields__count(object, "slow_events", contributor->slow);
	fields__number(object, "share_of_slow", share(contributor->slow, probe->slow));
	fields__number(object, "share_of_slow_correlated",
		       share(contributor->slow_correlated,
			     timeline__slow_correlated(timeline, contributor->probe)));
	return object;
}

void report__add_timeline(struct json_object *to, const struct timeline *timeline)
{
	fields__put(to, "timeline", timeline_json(timeline));
	fields__put(to, "correlation", correlation_json(timeline));
	fields__list(to, "contributors", timeline->nr_contributors, make_contributor, timeline);
}
