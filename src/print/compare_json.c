// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include <json-c/json.h>

#include <core/split.h>
#include <store/json_print.h>

#include "compare.h"

static const char *unit_of(unsigned int statistic)
{
	if (judge__is_rate(statistic))
		return "per_sec";
	return statistic == JUDGE_TAIL || statistic == JUDGE_SHARE ? "share" : "us";
}

struct json_object *compare__json_statistic(const struct judge_rules *rules,
					    const struct judged *judged, unsigned int statistic)
{
	struct json_object *object = json_object_new_object();
	double values[COMPARE_NUMBERS];

	compare__values(judged, statistic, values);
	fields__text(object, "statistic", judge__name(statistic));
	fields__text(object, "unit", unit_of(statistic));
	for (unsigned int i = 0; i < COMPARE_NUMBERS; i++)
		if (i != COMPARE_ODDS_RATIO || statistic == JUDGE_TAIL)
			fields__number(object, compare__numbers[i].name, values[i]);
	fields__flag(object, "tested", judged->tested);
	fields__text(object, "verdict",
		     rules->statistics & 1U << statistic ? judge__verdict(judged) : NULL);
	fields__text(object, "reason", judged->why[0] ? judged->why : NULL);
	return object;
}

static struct json_object *make_number(const void *numbers, size_t at)
{
	return json_object_new_uint64(((const uint64_t *)numbers)[at]);
}

static struct json_object *total_json(const struct comparison_row *row,
				      const struct comparison_total *total)
{
	struct json_object *object = json_object_new_object();
	bool tail = row->tail->ns && total->events;
	unsigned int nr = HIST_LOG2_BUCKETS;

	fields__number(object, "tail_share",
		       tail ? (double)total->tail / (double)total->events : NAN);
	fields__number(object, "tail_share_low", tail ? total->wilson.low : NAN);
	fields__number(object, "tail_share_high", tail ? total->wilson.high : NAN);
	fields__number(object, "rate_per_sec", summary__rate(total->events, total->duration_ns));
	fields__number(object, "max_us", total->events ? (double)total->max_ns / 1e3 : NAN);
	fields__count(object, "events", total->events);
	if (row->tail->ns)
		fields__count(object, "tail_events", total->tail);
	while (nr && !total->buckets[nr - 1])
		nr--;
	fields__list(object, "log2_counts", nr, make_number, total->buckets);
	return object;
}

static struct json_object *make_row(const void *of, size_t at)
{
	const struct comparison *comparison = of;
	const struct comparison_row *row = &comparison->rows[at];
	struct json_object *object = json_object_new_object();
	struct json_object *statistics = json_object_new_array();

	fields__text(object, "probe", row->probe->name);
	fields__text(object, "metric", row->probe->metrics[row->metric].name);
	fields__text(object, "by",
		     row->by == GROUP_WHOLE ? NULL : split__name((unsigned int)row->by));
	fields__text(object, "key", row->by == GROUP_WHOLE ? NULL : row->key);
	fields__number(object, "tail_threshold_us",
		       row->tail->ns ? (double)row->tail->ns / 1e3 : NAN);
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		json_object_array_add(statistics, compare__json_statistic(&comparison->rules.judge,
									  &row->statistics[i], i));
	fields__put(object, "statistics", statistics);
	fields__put(object, "off", total_json(row, &row->total[0]));
	fields__put(object, "on", total_json(row, &row->total[1]));
	return object;
}

static struct json_object *make_share(const void *of, size_t at)
{
	const struct comparison *comparison = of;
	const struct share_change *change = &comparison->shares.changes[at];
	const struct shares_key *key = change->key;
	struct json_object *object =
		compare__json_statistic(&comparison->rules.judge, &change->judged, JUDGE_SHARE);
	char part[RUN_NAME];
	bool whole = key->by == GROUP_WHOLE;

	fields__text(object, "probe", key->probe);
	fields__text(object, "by", whole ? NULL : split__name((unsigned int)key->by));
	fields__text(object, "key", whole ? NULL : key->name);
	fields__text(object, "part", share_change__part(change, part));
	return object;
}

static struct json_object *make_recording(const void *recordings, size_t at)
{
	const struct group_recording *recording = (const struct group_recording *)recordings + at;
	struct json_object *object = json_object_new_object();

	fields__text(object, "path", recording->path);
	fields__text(object, "start_utc", recording->run->start_utc);
	fields__number(object, "duration_sec", (double)recording->run->duration_ns / 1e9);
	fields__count(object, "intervals", recording->intervals);
	fields__count(object, "observations", recording->observations);
	return object;
}

static struct json_object *make_refusal(const void *refusals, size_t at)
{
	const struct comparison_refusal *refusal = (const struct comparison_refusal *)refusals + at;
	struct json_object *object = json_object_new_object();

	fields__text(object, "probe", refusal->probe);
	fields__text(object, "reason", refusal->why);
	return object;
}

static struct json_object *make_warning(const void *lines, size_t at)
{
	return json_object_new_string(((char *const *)lines)[at]);
}

static struct json_object *verdicts_json(const struct comparison *comparison)
{
	struct json_object *object = json_object_new_object();

	fields__count(object, "worse", comparison->verdicts[JUDGE_WORSE]);
	fields__count(object, "better", comparison->verdicts[JUDGE_BETTER]);
	fields__count(object, "more", comparison->verdicts[JUDGE_MORE]);
	fields__count(object, "fewer", comparison->verdicts[JUDGE_FEWER]);
	fields__count(object, "no_difference_shown", comparison->verdicts[JUDGE_NO_DIFFERENCE]);
	fields__count(object, "cannot_tell", comparison->untested);
	return object;
}

struct json_object *compare__json(const struct comparison *comparison)
{
	const struct judge_rules *rules = &comparison->rules.judge;
	const struct group *off = &comparison->groups[0], *on = &comparison->groups[1];
	struct json_object *object = json_object_new_object();

	fields__count(object, "schema", RUN_SCHEMA);
	fields__text(object, "observation", rules->batches ? "batch" : "run");
	fields__number(object, "run_spread", rules->batches ? rules->run_spread : NAN);
	fields__number(object, "confidence", rules->confidence);
	fields__number(object, "min_effect", rules->min_effect);
	fields__count(object, "statistics_tested", comparison->family);
	fields__list(object, "off", off->nr, make_recording, off->recordings);
	fields__list(object, "on", on->nr, make_recording, on->recordings);
	fields__list(object, "warnings", comparison->warnings.nr, make_warning,
		     comparison->warnings.lines);
	fields__list(object, "not_compared", comparison->nr_refusals, make_refusal,
		     comparison->refusals);
	fields__put(object, "verdicts", verdicts_json(comparison));
	fields__list(object, "comparisons", comparison->nr, make_row, comparison);
	fields__list(object, "shares", comparison->shares.nr, make_share, comparison);
	return object;
}
