// SPDX-License-Identifier: BSD-2-Clause
#include "model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/pressure.h>
#include <core/vec.h>
#include <print/bars.h>
#include <print/probe_view.h>

void model__begin(struct model *model, uint64_t frame)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++) {
		run__zero_data(&model->data[i]);
		free(model->why[i].pairs);
		model->why[i].pairs = NULL;
		model->why[i].nr_pairs = 0;
		model->why[i].nr_events = 0;
		model->why[i].over_ns = 0;
	}
	if (model->rows)
		bars__free_rows(model->rows);
	memset(model->stalled_ns, 0, sizeof(model->stalled_ns));
	memset(model->stalls_known, 0, sizeof(model->stalls_known));
	model->frame = frame;
	model->has_frame = false;
}

const struct model_column *model__column(const struct model *model, uint64_t frame)
{
	const struct model_column *column = &model->columns[frame % MODEL_COLUMNS];

	return column->known && column->frame == frame ? column : NULL;
}

static void empty_column(struct model_column *column)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		sparse__zero(&column->hists[i]);
	column->known = false;
}

int model__add_column(struct model *model, uint64_t frame, const struct run_interval *interval)
{
	struct model_column *column = &model->columns[frame % MODEL_COLUMNS];
	int err = 0;

	if (column->frame != frame)
		empty_column(column);
	column->frame = frame;
	column->known = true;
	for (unsigned int i = 0; !err && i < model->run->nr_probes; i++) {
		const struct lat_hist *hist = &interval->delta[i].metrics[0].hist;
		struct sparse *to = &column->hists[i], added = { 0 };

		if (!model->run->probes[i].nr_metrics)
			continue;
		if (!to->nr) {
			err = sparse__set(to, hist);
			continue;
		}
		err = sparse__set(&added, hist);
		if (!err)
			err = sparse__add(to, &added);
		sparse__clear(&added);
	}
	return err;
}

static const char *text_of(const struct table *table, size_t row, unsigned int column)
{
	struct table_value value = table__value(table, row, column);

	return value.known && value.kind == TABLE_TEXT ? value.text : "";
}

static int64_t integer_of(const struct table *table, size_t row, unsigned int column)
{
	struct table_value value = table__value(table, row, column);

	return value.known && value.kind == TABLE_INTEGER ? value.integer : 0;
}

static struct model_pair *find_pair(struct model_why *why, const struct model_pair *like)
{
	for (size_t i = 0; i < why->nr_pairs; i++) {
		struct model_pair *pair = &why->pairs[i];

		if (pair->victim_id == like->victim_id && pair->part == like->part &&
		    !strcmp(pair->victim, like->victim) && !strcmp(pair->culprit, like->culprit))
			return pair;
	}
	return NULL;
}

static int add_pair(struct model_why *why, const struct model_pair *pair, bool merge)
{
	struct model_pair *grown, *same = merge ? find_pair(why, pair) : NULL;

	if (same) {
		same->ns += pair->ns;
		same->events += pair->events;
		return 0;
	}
	grown = vec__grow(why->pairs, why->nr_pairs, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	why->pairs = grown;
	why->pairs[why->nr_pairs++] = *pair;
	return 0;
}

static int add_pairs(struct model_why *why, const struct run_probe *probe)
{
	const struct table *table = probe->why->parts;
	/* In one interval, pairs of the same names differ by traits alone, which are not shown. */
	bool merge = why->nr_pairs || why__words(probe->name)->traits;
	struct model_pair pair;
	int part, err = 0;

	for (size_t row = 0; !err && row < table__rows(table); row++) {
		part = why__find_part(probe->name, text_of(table, row, WHY_PART));
		pair = (struct model_pair){
			.victim_id = integer_of(table, row, WHY_VICTIM_ID),
			.part = part < 0 ? WHY_UNKNOWN : (unsigned int)part,
			.ns = (uint64_t)integer_of(table, row, WHY_NS),
			.events = (uint64_t)integer_of(table, row, WHY_EVENTS),
		};
		snprintf(pair.victim, WHY_NAME, "%s", text_of(table, row, WHY_VICTIM));
		snprintf(pair.culprit, WHY_NAME, "%s", text_of(table, row, WHY_CULPRIT));
		why->over_ns = (uint64_t)integer_of(table, row, WHY_OVER_NS);
		err = add_pair(why, &pair, merge);
	}
	return err;
}

static int add_why(struct model_why *why, const struct run_probe *probe)
{
	if (!probe->why || !probe->why->parts)
		return 0;
	why->nr_events = why__add_slowest(probe->why, why->events, why->nr_events, MODEL_EVENTS);
	return add_pairs(why, probe);
}

static int keep_rows(struct model *model)
{
	const struct run_probe *probe = probe_view__of_bars(model->run);

	if (!probe)
		return 0;
	if (!model->rows)
		model->rows = calloc(1, sizeof(*model->rows));
	return model->rows ? bars__keep_rows(model->rows, probe) : -ENOMEM;
}

static void add_stalls(struct model *model)
{
	static const enum pressure_column columns[MODEL_RESOURCES] = {
		[MODEL_CPU] = PRESSURE_CPU_SOME,
		[MODEL_MEMORY] = PRESSURE_MEMORY_SOME,
		[MODEL_IO] = PRESSURE_IO_SOME,
	};
	const struct table *table = model->run->pressure.table;

	for (size_t row = 0; table && row < table__rows(table); row++)
		for (unsigned int i = 0; i < MODEL_RESOURCES; i++) {
			model->stalls_known[i] |= table__value(table, row, columns[i]).known;
			model->stalled_ns[i] += (uint64_t)integer_of(table, row, columns[i]);
		}
}

int model__add(struct model *model, const struct run_interval *interval)
{
	int err = keep_rows(model);

	add_stalls(model);

	for (unsigned int i = 0; !err && i < model->run->nr_probes; i++) {
		err = run__add_data(&model->data[i], &interval->delta[i]);
		if (!err)
			err = add_why(&model->why[i], &model->run->probes[i]);
	}
	if (!model->has_frame)
		model->start_ns = interval->start_ns;
	model->end_ns = interval->end_ns;
	model->has_frame = true;
	return err;
}

void model__forget_keys(struct model *model)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		run__clear_data(&model->data[i]);
	model->has_frame = false;
}

void model__forget_columns(struct model *model)
{
	for (unsigned int i = 0; i < MODEL_COLUMNS; i++)
		empty_column(&model->columns[i]);
}

void model__clear(struct model *model)
{
	model__begin(model, 0);
	model__forget_keys(model);
	free(model->rows);
	model->rows = NULL;
	for (unsigned int i = 0; i < MODEL_COLUMNS; i++)
		for (unsigned int j = 0; j < RUN_PROBES; j++)
			sparse__clear(&model->columns[i].hists[j]);
}
