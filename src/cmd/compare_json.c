// SPDX-License-Identifier: BSD-2-Clause
#include <json-c/json.h>
#include <math.h>

#include <base/by.h>
#include <base/json.h>

#include "compare_print.h"

/* Six digits; what is not there, or not finite, is null. */
static void put_number(struct json_object *to, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", value);
	json_object_object_add(to, name,
			       isfinite(value) ? json_object_new_double_s(value, text) : NULL);
}

static void put_count(struct json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

static void put_text(struct json_object *to, const char *name, const char *value)
{
	json_object_object_add(to, name, value ? json__text(value) : NULL);
}

static void put_flag(struct json_object *to, const char *name, bool value)
{
	json_object_object_add(to, name, json_object_new_boolean(value));
}

/* Latencies in us, as in all other JSON. */
static double scale_of(unsigned int figure)
{
	return figure == JUDGE_TAIL ? 1 : 1e-3;
}

static struct json_object *figure_json(const struct comparison *comparison,
				       const struct judged *judged, unsigned int figure)
{
	struct json_object *object = json_object_new_object();
	double scale = scale_of(figure);

	put_text(object, "figure", judge__name(figure));
	put_text(object, "unit", figure == JUDGE_TAIL ? "share" : "us");
	put_number(object, "off", judged->off * scale);
	put_number(object, "on", judged->on * scale);
	put_number(object, "difference", (judged->on - judged->off) * scale);
	put_number(object, "relative", judged->ratio - 1);
	put_number(object, "ratio", judged->ratio);
	put_number(object, "ratio_low", judged->low);
	put_number(object, "ratio_high", judged->high);
	if (figure == JUDGE_TAIL)
		put_number(object, "odds_ratio", share__odds_ratio(judged->off, judged->on));
	put_number(object, "p", judged->p);
	put_number(object, "p_adjusted", judged->adjusted);
	put_flag(object, "judged", judged->tested);
	put_text(object, "verdict",
		 comparison->rules.judge.figures & 1U << figure ? judge__word(judged->verdict)
								: NULL);
	put_text(object, "reason", judged->why[0] ? judged->why : NULL);
	return object;
}

static struct json_object *total_json(const struct comparison *comparison,
				      const struct comparison_total *total)
{
	struct json_object *object = json_object_new_object();
	bool tail = comparison->tail_ns && total->events;

	put_number(object, "tail_share", tail ? (double)total->tail / (double)total->events : NAN);
	put_number(object, "tail_share_low", tail ? total->wilson.low : NAN);
	put_number(object, "tail_share_high", tail ? total->wilson.high : NAN);
	put_number(object, "rate_per_sec", figures__rate(total->events, total->duration_ns));
	put_number(object, "max_us", total->events ? (double)total->max_ns / 1e3 : NAN);
	put_count(object, "events", total->events);
	if (comparison->tail_ns)
		put_count(object, "tail_events", total->tail);
	return object;
}

static struct json_object *row_json(const struct comparison *comparison,
				    const struct comparison_row *row)
{
	struct json_object *object = json_object_new_object();
	struct json_object *figures = json_object_new_array();

	put_text(object, "module", row->module->name);
	put_text(object, "metric", row->module->metrics[row->metric].name);
	put_text(object, "by", row->by == SIDE_WHOLE ? NULL : by__name((unsigned int)row->by));
	put_text(object, "key", row->by == SIDE_WHOLE ? NULL : row->key);
	for (unsigned int i = 0; i < JUDGE_FIGURES; i++)
		json_object_array_add(figures, figure_json(comparison, &row->figures[i], i));
	json_object_object_add(object, "figures", figures);
	json_object_object_add(object, "off", total_json(comparison, &row->total[0]));
	json_object_object_add(object, "on", total_json(comparison, &row->total[1]));
	return object;
}

static struct json_object *recording_json(const struct side_recording *recording)
{
	struct json_object *object = json_object_new_object();

	put_text(object, "path", recording->path);
	put_text(object, "start_utc", recording->run->start_utc);
	put_number(object, "duration_sec", (double)recording->run->duration_ns / 1e9);
	put_count(object, "intervals", recording->intervals);
	put_count(object, "observations", recording->units);
	return object;
}

static struct json_object *side_json(const struct side *side)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < side->nr; i++)
		json_object_array_add(array, recording_json(&side->recordings[i]));
	return array;
}

static struct json_object *refusals_json(const struct comparison *comparison)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < comparison->nr_refusals; i++) {
		struct json_object *object = json_object_new_object();

		put_text(object, "module", comparison->refusals[i].module);
		put_text(object, "reason", comparison->refusals[i].why);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *verdicts_json(const struct comparison *comparison)
{
	struct json_object *object = json_object_new_object();

	put_count(object, "worse", comparison->verdicts[JUDGE_WORSE]);
	put_count(object, "better", comparison->verdicts[JUDGE_BETTER]);
	put_count(object, "no_difference_shown", comparison->verdicts[JUDGE_NO_DIFFERENCE]);
	put_count(object, "cannot_tell", comparison->untold);
	return object;
}

static struct json_object *rows_json(const struct comparison *comparison)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < comparison->nr; i++)
		json_object_array_add(array, row_json(comparison, &comparison->rows[i]));
	return array;
}

struct json_object *compare__json(const struct comparison *comparison)
{
	const struct judge_rules *rules = &comparison->rules.judge;
	struct json_object *object = json_object_new_object();
	struct json_object *warnings = json_object_new_array();

	for (size_t i = 0; i < comparison->warnings.nr; i++)
		json_object_array_add(warnings, json__text(comparison->warnings.lines[i]));
	put_count(object, "schema", RUN_SCHEMA);
	put_text(object, "observation", rules->batches ? "batch" : "run");
	put_number(object, "run_spread", rules->batches ? rules->run_spread : NAN);
	put_number(object, "confidence", rules->confidence);
	put_number(object, "min_effect", rules->min_effect);
	put_number(object, "tail_threshold_us",
		   comparison->tail_ns ? (double)comparison->tail_ns / 1e3 : NAN);
	put_count(object, "figures_judged", comparison->family);
	json_object_object_add(object, "off", side_json(&comparison->sides[0]));
	json_object_object_add(object, "on", side_json(&comparison->sides[1]));
	json_object_object_add(object, "warnings", warnings);
	json_object_object_add(object, "not_compared", refusals_json(comparison));
	json_object_object_add(object, "verdicts", verdicts_json(comparison));
	json_object_object_add(object, "comparisons", rows_json(comparison));
	return object;
}
