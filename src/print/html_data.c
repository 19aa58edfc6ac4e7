// SPDX-License-Identifier: BSD-2-Clause
/* The data of a page as JSON: web/data.js reads it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/counts.h>
#include <core/hist.h>
#include <core/split.h>
#include <store/json_print.h>

#include "html_data.h"
#include "probe_view.h"

#define KEYS_SLOTS (200 << 10) /* with more, keys have groups of columns */
#define PRESSURE_SCALE 100000 /* of a series of shares */

/* Columns of a metric, or of a key. */
static int start_track(struct html_track *track)
{
	int err = html_series__open(&track->slots);

	return err ? err : html_series__open(&track->sums);
}

static void clear_track(struct html_track *track, size_t columns)
{
	for (size_t i = 0; track->groups && i < columns; i++)
		sparse__clear(&track->groups[i]);
	free(track->groups);
	html_series__clear(&track->slots);
	html_series__clear(&track->sums);
	sparse__clear(&track->sum);
}

static int start_key(struct html_track *key, size_t index, size_t columns)
{
	key->index = index;
	key->groups = calloc(columns + 1, sizeof(*key->groups));
	return key->groups ? start_track(key) : -ENOMEM;
}

/* The keys of the first metric with the most time in each split. */
static int start_keys(struct html_probe *to, const struct run_probe *probe, unsigned int top,
		      size_t columns)
{
	const struct run_key **ranked;
	int err = 0;

	to->keys = calloc(probe->total.nr_keys + 1, sizeof(*to->keys));
	if (!to->keys)
		return -ENOMEM;
	for (unsigned int by = 0; !err && by < LAT_BY_COUNT; by++) {
		ssize_t nr = run__ranked_keys(&probe->total, by, 0, &ranked);

		if (nr < 0)
			return (int)nr;
		for (ssize_t i = 0; !err && i < nr; i++) {
			if (top && (size_t)i >= top && ranked[i]->key.id != RUN_OTHER_ID) {
				to->left_out[by]++;
				continue;
			}
			err = start_key(&to->keys[to->nr_keys++],
					(size_t)(ranked[i] - probe->total.keys), columns);
		}
		free(ranked);
	}
	return err;
}

static int start_probe(struct html_data *data, unsigned int index, unsigned int top)
{
	const struct run_probe *probe = &data->run->probes[index];
	struct html_probe *to = &data->probes[index];
	int err = 0;

	if (probe->refused[0])
		return 0;
	for (unsigned int i = 0; !err && i < probe->nr_metrics; i++)
		err = start_track(&to->metrics[i]);
	if (!err && probe->nr_metrics)
		err = start_keys(to, probe, top, data->columns);
	if (!err && probe->why)
		err = html_why__start(&to->why, data->run, probe);
	return err;
}

static int read_sentences(struct html_data *data, const struct run *run)
{
	const struct run_probe *probe = probe_view__of_bars(run);
	const struct probe_view *view = probe ? probe_view__of(probe) : NULL;

	return view && view->sentences ? view->sentences(&data->sentences, run, probe) : 0;
}

int html_data__start(struct html_data *data, const struct run *run, size_t intervals,
		     unsigned int top)
{
	int err;

	data->run = run;
	data->intervals = intervals;
	data->per = (intervals + HTML_COLUMNS - 1) / HTML_COLUMNS;
	data->per = data->per ? data->per : 1;
	data->columns = (intervals + data->per - 1) / data->per;
	data->cells = calloc(RUN_PROBES, sizeof(*data->cells));
	data->pictures = calloc(RUN_PROBES, sizeof(*data->pictures));
	data->over_time = calloc(data->columns + 1, sizeof(*data->over_time));
	data->group = 1;
	if (!data->cells || !data->pictures || !data->over_time)
		return -ENOMEM;
	err = html_series__open(&data->edges);
	if (!err)
		err = read_sentences(data, run);
	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		err = start_probe(data, i, top);
	return err ? err : html_bars__start(&data->bars, run);
}

void html_data__clear(struct html_data *data)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++) {
		struct html_probe *probe = &data->probes[i];

		for (unsigned int metric = 0; metric < RUN_METRICS; metric++)
			clear_track(&probe->metrics[metric], 0);
		for (size_t key = 0; key < probe->nr_keys; key++)
			clear_track(&probe->keys[key], data->columns);
		free(probe->keys);
		html_why__clear(&probe->why);
	}
	html_series__clear(&data->edges);
	html_bars__clear(&data->bars);
	free(data->sentences);
	free(data->cells);
	free(data->pictures);
	free(data->over_time);
}

static void end_edges(struct html_data *data)
{
	html_series__number(&data->edges, data->start_ns - data->last_ns);
	html_series__number(&data->edges, data->end_ns - data->start_ns);
	data->last_ns = data->end_ns;
	data->over_time[data->column].start_ns = data->start_ns;
	data->over_time[data->column].end_ns = data->end_ns;
}

static int end_metric(struct html_data *data, unsigned int index, unsigned int metric)
{
	struct html_track *track = &data->probes[index].metrics[metric];
	struct lat_cell *cell = &data->cells[index].metrics[metric];
	int err = sparse__set(&track->sum, &cell->hist);

	if (err)
		return err;
	html_series__hist(&track->slots, &track->sum, (const uint64_t *)cell->counts);
	if (!metric)
		html_svg__add(&data->pictures[index], data->column, data->columns, &cell->hist);
	memset(cell, 0, sizeof(*cell));
	return 0;
}

static int end_key(struct html_data *data, struct html_track *key)
{
	int err = sparse__add(&key->groups[data->column / data->group], &key->sum);

	data->key_slots += key->sum.nr;
	html_series__sums(&key->sums, sparse__count(&key->sum), key->sum.sum_ns, key->sum.max_ns);
	sparse__zero(&key->sum);
	return err;
}

/* Two become one. Returns the slots that they have then, or -errno. */
static ssize_t join_groups(struct sparse *groups, size_t nr)
{
	ssize_t slots = 0;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i += 2) {
		struct sparse *to = &groups[i / 2];

		if (i) {
			*to = groups[i];
			groups[i] = (struct sparse){ 0 };
		}
		if (i + 1 < nr) {
			err = sparse__add(to, &groups[i + 1]);
			sparse__clear(&groups[i + 1]);
		}
		slots += (ssize_t)to->nr;
	}
	return err ? err : slots;
}

/* Percentiles of keys need their slots, but a page has room for so many. */
static int limit_keys(struct html_data *data)
{
	while (data->key_slots > KEYS_SLOTS && data->group < data->columns) {
		data->key_slots = 0;
		for (unsigned int i = 0; i < RUN_PROBES; i++) {
			for (size_t key = 0; key < data->probes[i].nr_keys; key++) {
				ssize_t slots = join_groups(data->probes[i].keys[key].groups,
							    data->column / data->group + 1);

				if (slots < 0)
					return (int)slots;
				data->key_slots += (size_t)slots;
			}
		}
		data->group *= 2;
	}
	return 0;
}

static int end_column(struct html_data *data)
{
	int err = html_bars__end_column(&data->bars, data->end_ns - data->start_ns,
					data->over_time[data->column].machine);

	end_edges(data);
	for (unsigned int i = 0; i < data->run->nr_probes; i++) {
		const struct run_probe *probe = &data->run->probes[i];

		for (unsigned int metric = 0; !err && metric < probe->nr_metrics; metric++)
			err = end_metric(data, i, metric);
		for (size_t key = 0; !err && key < data->probes[i].nr_keys; key++)
			err = end_key(data, &data->probes[i].keys[key]);
		html_why__end_column(&data->probes[i].why);
	}
	if (!err)
		err = limit_keys(data);
	data->column++;
	return err;
}

static int add_probe(struct html_data *data, unsigned int index, const struct run_data *delta)
{
	const struct run_probe *probe = &data->run->probes[index];
	struct html_probe *to = &data->probes[index];
	int err = 0;

	if (probe->refused[0])
		return 0;
	for (unsigned int i = 0; i < probe->nr_metrics; i++)
		hist__add_cell(&data->cells[index].metrics[i], &delta->metrics[i]);
	for (size_t i = 0; !err && i < to->nr_keys; i++)
		err = sparse__add(&to->keys[i].sum, &delta->keys[to->keys[i].index].hist);
	if (!err && probe->why)
		err = html_why__add(&to->why, probe, data->column, data->columns);
	if (!err && probe->more[RUN_ACTIONS])
		html_actions__add(&data->actions, probe->more[RUN_ACTIONS], data->column,
				  data->columns);
	return err;
}

int html_data__add(struct html_data *data, const struct run_interval *interval)
{
	int err = 0;

	if (!data->nr++)
		data->first_ns = interval->start_ns;
	if ((data->nr - 1) % data->per == 0)
		data->start_ns = interval->start_ns;
	data->end_ns = interval->end_ns;
	err = html_bars__add(&data->bars, data->column, data->columns);
	for (unsigned int i = 0; !err && i < data->run->nr_probes; i++)
		err = add_probe(data, i, &interval->delta[i]);
	if (!err && (data->nr % data->per == 0 || data->nr == data->intervals))
		err = end_column(data);
	return err;
}

/* ---- JSON ---- */

static struct json_object *columns_json(struct html_data *data)
{
	struct json_object *object = json_object_new_object();

	fields__count(object, "nr", data->column);
	fields__count(object, "intervals", data->nr);
	fields__count(object, "per", data->per);
	fields__put(object, "edges", html_series__json(&data->edges));
	return object;
}

static struct json_object *make_count(const void *unused, size_t at)
{
	struct json_object *count = json_object_new_object();

	(void)unused;
	fields__text(count, "name", counts__name((unsigned int)at));
	fields__flag(count, "term", counts__is_term((unsigned int)at));
	return count;
}

static struct json_object *metrics_json(struct html_probe *from, const struct run_probe *probe)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		struct json_object *object = json_object_new_object();

		fields__text(object, "name", probe->metrics[i].name);
		fields__text(object, "what", probe->metrics[i].what);
		fields__put(object, "cells", html_series__json(&from->metrics[i].slots));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *groups_json(const struct html_data *data, struct html_track *key)
{
	for (size_t i = 0; i * data->group < data->column; i++)
		html_series__hist(&key->slots, &key->groups[i], NULL);
	return html_series__json(&key->slots);
}

static struct json_object *keys_json(const struct html_data *data, struct html_probe *from,
				     const struct run_probe *probe)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < from->nr_keys; i++) {
		const struct run_key *key = &probe->total.keys[from->keys[i].index];
		struct json_object *object = json_object_new_object();

		fields__text(object, "by", split__name(key->key.by));
		fields__text(object, "name", key->name);
		fields__put(object, "cells", groups_json(data, &from->keys[i]));
		if (data->group > 1)
			fields__put(object, "sums", html_series__json(&from->keys[i].sums));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *left_out_json(const struct html_probe *from)
{
	struct json_object *object = json_object_new_object();

	for (unsigned int by = 0; by < LAT_BY_COUNT; by++) {
		if (from->left_out[by])
			fields__count(object, split__name(by), from->left_out[by]);
	}
	return object;
}

static struct json_object *probe_json(struct html_data *data, unsigned int index)
{
	const struct run_probe *probe = &data->run->probes[index];
	struct html_probe *from = &data->probes[index];
	struct json_object *object = json_object_new_object();

	fields__text(object, "name", probe->name);
	fields__text(object, "refused", probe->refused[0] ? probe->refused : NULL);
	if (probe->refused[0] || !probe->nr_metrics)
		return object;
	fields__put(object, "metrics", metrics_json(from, probe));
	fields__put(object, "keys", keys_json(data, from, probe));
	fields__put(object, "left_out", left_out_json(from));
	if (probe->why)
		fields__put(object, "why", html_why__json(&from->why, data->run, probe));
	return object;
}

/* ---- over time ---- */

void html_data__add_pressure(struct html_data *data, const struct correlation *correlation)
{
	static const enum pressure_column of[HTML_PRESSURES] = { PRESSURE_CPU_SOME,
								 PRESSURE_MEMORY_SOME,
								 PRESSURE_IO_SOME };
	const struct timeline *timeline = correlation->timeline;

	for (unsigned int i = 0; i < HTML_PRESSURES; i++) {
		const struct correlation_series *series = correlation__pressure(correlation, of[i]);

		for (size_t column = 0; column < data->column; column++) {
			size_t at = column * data->per;
			double sum = 0, length = 0;

			for (; series && at < (column + 1) * data->per && at < timeline->nr; at++) {
				double ns = (double)(timeline->end_ns[at] - timeline->start_ns[at]);

				sum += isnan(series->values[at]) ? 0 : series->values[at] * ns;
				length += isnan(series->values[at]) ? 0 : ns;
			}
			data->over_time[column].pressure[i] = length > 0 ? sum / length : NAN;
		}
	}
}

/* One more than the scaled share; 0: unknown. */
static uint64_t pressure_at(const struct html_column *column, size_t which)
{
	double share = column->pressure[which];

	return isnan(share) ? 0 : (uint64_t)lround(share * PRESSURE_SCALE) + 1;
}

static uint64_t machine_at(const struct html_column *column, size_t part)
{
	return (column->machine[part] + HTML_BAR_UNIT_NS / 2) / HTML_BAR_UNIT_NS;
}

/* A series for each of `nr`. */
static struct json_object *over_time_json(const struct html_data *data, size_t nr,
					  uint64_t (*at)(const struct html_column *, size_t))
{
	struct json_object *array = json_object_new_array();

	for (size_t which = 0; which < nr; which++) {
		struct html_series series = { 0 };

		if (!html_series__open(&series)) {
			for (size_t i = 0; i < data->column; i++)
				html_series__value(&series, at(&data->over_time[i], which));
			json_object_array_add(array, html_series__json(&series));
		}
		html_series__clear(&series);
	}
	return array;
}

static struct json_object *sentences_json(const char *sentences)
{
	struct json_object *array = json_object_new_array();

	for (const char *at = sentences; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		json_object_array_add(array,
				      json_object_new_string_len(at, (int)strcspn(at, "\n")));
	return array;
}

void html_data__json(struct html_data *data, struct json_object *to)
{
	struct json_object *probes = json_object_new_array(), *bars = html_bars__json(&data->bars);

	for (unsigned int i = 0; i < data->run->nr_probes; i++)
		json_object_array_add(probes, probe_json(data, i));
	fields__put(to, "columns", columns_json(data));
	fields__list(to, "counts", LAT_COUNTS, make_count, NULL);
	fields__put(to, "series", probes);
	fields__count(to, "group", data->group);
	if (bars)
		fields__put(bars, "machine", over_time_json(data, BAR_PARTS, machine_at));
	fields__put(to, "bars", bars);
	fields__put(to, "sentences", sentences_json(data->sentences));
	if (data->run->pressure.table)
		fields__put(to, "pressure", over_time_json(data, HTML_PRESSURES, pressure_at));
}
