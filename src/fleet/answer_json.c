// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include <json-c/json.h>

#include <core/hist.h>
#include <store/json_print.h>

#include "answer.h"

static const char *kind_of(const struct fleet_question *question)
{
	static const char *const kinds[] = { "quantile", "top", "compare", "share" };

	return kinds[question->kind];
}

static struct json_object *conditions_json(const struct fleet_side *side)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < side->nr; i++) {
		struct json_object *object = json_object_new_object();

		fields__text(object, "name", side->conditions[i].name);
		fields__text(object, "value", side->conditions[i].value);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *slots_json(const struct lat_hist *hist)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < HIST_SLOTS; i++) {
		struct json_object *pair;

		if (!hist->slots[i])
			continue;
		pair = json_object_new_array();
		json_object_array_add(pair, json_object_new_int64(i));
		json_object_array_add(pair, json_object_new_uint64(hist->slots[i]));
		json_object_array_add(array, pair);
	}
	return array;
}

static void add_side(struct json_object *to, const struct fleet_row *row, unsigned int side)
{
	const struct lat_hist *hist = &row->hists[side];

	fields__count(to, "hosts", row->hosts[side]);
	fields__count(to, "events", row->events[side]);
	fields__number(to, "mean_us", row->events[side] ? hist__mean_ns(hist) / 1e3 : NAN);
	fields__number(to, "max_us", row->events[side] ? (double)hist->max_ns / 1e3 : NAN);
	fields__number(to, "sum_us", (double)hist->sum_ns / 1e3);
	json_object_object_add(to, "slots", slots_json(hist));
}

static struct json_object *estimate_json(const struct fleet_row *row, double quantile,
					 const struct hosts_interval *interval)
{
	struct json_object *object = json_object_new_object();
	char name[RUN_NAME];

	fields__text(object, "statistic", fleet_question__name(quantile, name));
	fields__number(object, "us", fleet_answer__us(row, 0, quantile));
	fields__number(object, "low_us", interval->low / 1e3);
	fields__number(object, "high_us", interval->high / 1e3);
	fields__text(object, "reason", interval->why[0] ? interval->why : NULL);
	return object;
}

static struct json_object *judged_json(double quantile, const struct judged *judged)
{
	struct json_object *object = json_object_new_object();
	char name[RUN_NAME];

	fields__text(object, "statistic", fleet_question__name(quantile, name));
	fields__number(object, "where_us", judged->off / 1e3);
	fields__number(object, "against_us", judged->on / 1e3);
	fields__number(object, "ratio", judged->ratio);
	fields__number(object, "ratio_low", judged->low);
	fields__number(object, "ratio_high", judged->high);
	fields__number(object, "p", judged->p);
	fields__number(object, "p_adjusted", judged->adjusted);
	fields__flag(object, "tested", judged->tested);
	fields__text(object, "verdict", judge__verdict(judged));
	fields__text(object, "reason", judged->why[0] ? judged->why : NULL);
	return object;
}

static void add_share(struct json_object *to, const struct fleet_answer *answer,
		      const struct fleet_row *row)
{
	const struct fleet_cell *most = row->highest;

	fields__count(to, "hosts", row->hosts[0]);
	fields__number(to, "share", fleet_answer__share(row->ns, row->life_ns));
	fields__number(to, "us", (double)row->ns / 1e3);
	fields__number(to, "of_us", (double)row->life_ns / 1e3);
	fields__number(to, "highest", most ? fleet_answer__share(most->ns, most->life_ns) : NAN);
	fields__text(to, "highest_host", most ? answer->data->hosts[most->host].name : "");
}

static struct json_object *row_json(const struct fleet_answer *answer, const struct fleet_row *row)
{
	const struct fleet_question *question = answer->question;
	struct json_object *object = json_object_new_object();
	struct json_object *key = json_object_new_object();
	struct json_object *statistics;
	bool compares = question->kind == FLEET_COMPARE;

	for (size_t i = 0; i < question->nr_by; i++)
		fields__text(key, question->by[i], row->group->values[i]);
	json_object_object_add(object, "key", key);
	if (question->kind == FLEET_SHARE) {
		add_share(object, answer, row);
		return object;
	}
	statistics = json_object_new_array();
	for (size_t i = 0; i < question->nr_quantiles; i++)
		json_object_array_add(
			statistics,
			compares ? judged_json(question->quantiles[i], &row->judged[i])
				 : estimate_json(row, question->quantiles[i], &row->intervals[i]));
	json_object_object_add(object, "statistics", statistics);
	for (unsigned int i = 0; compares && i < 2; i++) {
		struct json_object *side = json_object_new_object();

		add_side(side, row, i);
		json_object_object_add(object, i ? "against" : "where", side);
	}
	if (!compares)
		add_side(object, row, 0);
	return object;
}

static void add_verdicts(struct json_object *to, const struct fleet_answer *answer)
{
	struct json_object *verdicts = json_object_new_object();

	fields__count(to, "hosts_where", answer->sides[0]);
	fields__count(to, "hosts_against", answer->sides[1]);
	fields__count(to, "hosts_on_both", answer->both);
	fields__number(to, "min_effect", answer->question->min_effect);
	fields__count(to, "statistics_tested", answer->tests);
	fields__count(verdicts, "worse", answer->verdicts[JUDGE_WORSE]);
	fields__count(verdicts, "better", answer->verdicts[JUDGE_BETTER]);
	fields__count(verdicts, "no_difference_shown", answer->verdicts[JUDGE_NO_DIFFERENCE]);
	fields__count(verdicts, "cannot_tell",
		      answer->nr * answer->question->nr_quantiles - answer->tests);
	json_object_object_add(to, "verdicts", verdicts);
}

struct json_object *fleet_answer__json(const struct fleet_answer *answer)
{
	const struct fleet_question *question = answer->question;
	struct json_object *object = json_object_new_object();
	struct json_object *rows = json_object_new_array();
	struct json_object *notes = json_object_new_array();

	fields__count(object, "schema", RUN_SCHEMA);
	fields__text(object, "question", kind_of(question));
	fields__text(object, "probe", question->probe);
	fields__text(object, "metric", answer->data->metric);
	fields__number(object, "confidence", question->confidence);
	fields__count(object, "hosts", answer->hosts);
	json_object_object_add(object, "where", conditions_json(&question->sides[0]));
	if (question->kind == FLEET_COMPARE) {
		json_object_object_add(object, "against", conditions_json(&question->sides[1]));
		add_verdicts(object, answer);
	}
	for (size_t i = 0; i < answer->nr; i++)
		json_object_array_add(rows, row_json(answer, &answer->rows[i]));
	json_object_object_add(object, "groups", rows);
	fields__count(object, "groups_left_out", answer->more);
	for (size_t i = 0; i < answer->notes.nr; i++)
		json_object_array_add(notes, json_object_new_string(answer->notes.lines[i]));
	json_object_object_add(object, "notes", notes);
	return object;
}
