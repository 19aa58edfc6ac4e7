// SPDX-License-Identifier: BSD-2-Clause
#include "data.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/vec.h>

/* A histogram may have been read in the middle of an event, on each CPU. */
#define SLACK_EVENTS 1000
#define SLACK_NS 1e12

/* A node of an index: a text and the position of what it names. */
struct named {
	size_t at;
	char text[];
};

static int by_text(const void *left, const void *right)
{
	return strcmp(((const struct named *)left)->text, ((const struct named *)right)->text);
}

/* Finds the text, or adds it with the position `next`. Returns its position, or -ENOMEM. */
static ssize_t place(void **index, const char *text, size_t next)
{
	struct named *made = malloc(sizeof(*made) + strlen(text) + 1), **found;

	if (!made)
		return -ENOMEM;
	made->at = next;
	strcpy(made->text, text);
	found = tsearch(made, index, by_text);
	if (!found || *found != made)
		free(made);
	return found ? (ssize_t)(*found)->at : -ENOMEM;
}

void fleet_data__begin(struct fleet_data *data, const struct fleet_question *question)
{
	*data = (struct fleet_data){ .question = question };
}

void fleet_data__clear(struct fleet_data *data)
{
	for (size_t i = 0; i < data->nr; i++)
		sparse__clear(&data->cells[i].hist);
	for (size_t i = 0; i < data->nr_hosts; i++)
		free(data->hosts[i].name);
	for (size_t i = 0; i < data->nr_groups; i++)
		for (size_t j = 0; j < FLEET_BY; j++)
			free(data->groups[i].values[j]);
	for (size_t i = 0; i < data->methods.nr; i++)
		free(data->methods.methods[i]);
	tdestroy(data->cell_index, free);
	tdestroy(data->host_index, free);
	tdestroy(data->group_index, free);
	notes__clear(&data->notes);
	free(data->cells);
	free(data->hosts);
	free(data->groups);
	free(data->methods.methods);
	memset(data, 0, sizeof(*data));
}

struct fleet_host *fleet_data__host(struct fleet_data *data, const char *name)
{
	ssize_t at = place(&data->host_index, name, data->nr_hosts);
	struct fleet_host *grown;

	if (at < 0 || (size_t)at < data->nr_hosts)
		return at < 0 ? NULL : &data->hosts[at];
	grown = vec__grow(data->hosts, data->nr_hosts, sizeof(*grown));
	if (!grown)
		return NULL;
	data->hosts = grown;
	grown[at] = (struct fleet_host){
		.name = strdup(name), .first_s = INT64_MAX, .last_s = INT64_MIN, .lost_known = true
	};
	if (!grown[at].name)
		return NULL;
	return &grown[data->nr_hosts++];
}

static ssize_t group_of(struct fleet_data *data, const char *const *values)
{
	char text[FLEET_BY * (FLEET_VALUE + 1)] = "";
	size_t used = 0;
	struct fleet_group *grown;
	ssize_t at;

	for (size_t i = 0; i < data->question->nr_by; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s\n",
					 FLEET_VALUE - 1, values[i]);
	at = place(&data->group_index, text, data->nr_groups);
	if (at < 0 || (size_t)at < data->nr_groups)
		return at;
	grown = vec__grow(data->groups, data->nr_groups, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	data->groups = grown;
	memset(&grown[at], 0, sizeof(grown[at]));
	data->nr_groups++;
	for (size_t i = 0; i < data->question->nr_by; i++) {
		grown[at].values[i] = strndup(values[i], FLEET_VALUE - 1);
		if (!grown[at].values[i])
			return -ENOMEM;
	}
	return at;
}

/* The index of a cell, made if needed; or -ENOMEM. */
static ssize_t cell_of(struct fleet_data *data, const char *name, const char *const *values,
		       unsigned int side)
{
	struct fleet_host *of = fleet_data__host(data, name);
	ssize_t group = of ? group_of(data, values) : -ENOMEM, at;
	size_t host = of ? (size_t)(of - data->hosts) : 0;
	const struct fleet_cell cell = { .host = host, .group = (size_t)group, .side = side };
	char text[64];

	if (group < 0)
		return group;
	of->in |= (unsigned char)(1U << side);
	snprintf(text, sizeof(text), "%zu %zd %u", host, group, side);
	at = place(&data->cell_index, text, data->nr);
	if (at < 0 || (size_t)at < data->nr)
		return at;
	return vec__append(&data->cells, &data->nr, &cell, sizeof(cell)) ?: at;
}

static int check_metric(struct fleet_data *data, const char *metric)
{
	if (!data->metric[0])
		snprintf(data->metric, RUN_NAME, "%s", metric);
	if (!strcmp(data->metric, metric))
		return 0;
	snprintf(data->why, RUN_TEXT, "%s has the metrics %s and %s", data->question->probe,
		 data->metric, metric);
	return -ENOTUNIQ;
}

int fleet_data__add(struct fleet_data *data, const char *host, const char *metric,
		    const char *const *values, unsigned int side, const struct sparse *hist)
{
	int err = check_metric(data, metric);
	ssize_t cell = err ? err : cell_of(data, host, values, side);

	return cell < 0 ? (int)cell : sparse__add(&data->cells[cell].hist, hist);
}

int fleet_data__add_time(struct fleet_data *data, const char *host, const char *const *values,
			 uint64_t ns, uint64_t life_ns)
{
	int err = check_metric(data, data->question->metric);
	ssize_t cell = err ? err : cell_of(data, host, values, 0);

	if (cell < 0)
		return (int)cell;
	data->cells[cell].ns += ns;
	data->cells[cell].life_ns += life_ns;
	return 0;
}

int fleet_data__method(struct fleet_data *data, const char *method)
{
	struct fleet_list *list = &data->methods;
	char **grown;

	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->methods[i], method))
			return 0;
	grown = vec__grow(list->methods, list->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->methods = grown;
	grown[list->nr] = strdup(method);
	return grown[list->nr++] ? 0 : -ENOMEM;
}

/* The lowest and the highest sum that samples in these slots can have. */
struct range {
	double low, high;
	uint64_t events;
};

static bool find_range(const struct sparse *hist, struct range *range)
{
	*range = (struct range){ 0 };
	for (uint64_t i = 0; i < hist->nr; i++) {
		uint32_t slot = hist->slots[i].slot;
		uint64_t count = hist->slots[i].count;

		if (slot > HIST_OVERFLOW_SLOT || range->events + count < count)
			return false;
		range->events += count;
		range->low += (double)count * (double)hist_slot_low_ns(slot);
		range->high += slot == HIST_OVERFLOW_SLOT
				       ? INFINITY
				       : (double)count * (double)hist_slot_low_ns(slot + 1);
	}
	return true;
}

const char *fleet_data__doubt(const struct sparse *hist, uint64_t covered_ns)
{
	struct range range;
	double sum = (double)hist->sum_ns;

	if (!find_range(hist, &range) || hist->tail > range.events + SLACK_EVENTS)
		return "counts";
	if (range.events > covered_ns)
		return "more events than ns";
	if (sum + SLACK_NS < range.low || sum > range.high + SLACK_NS)
		return "sum";
	return NULL;
}
