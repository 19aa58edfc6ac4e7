// SPDX-License-Identifier: BSD-2-Clause
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "pressure.h"
#include "vec.h"

/* a program takes about a microsecond, so a CPU does not count without a pause for that long */
#define COPIES 16

void run__clear_data(struct run_data *data)
{
	for (size_t i = 0; i < data->nr_keys; i++)
		sparse__clear(&data->keys[i].hist);
	free(data->keys);
	data->keys = NULL;
	data->nr_keys = 0;
}

void run__clear(struct run *run)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++) {
		run__clear_data(&run->probes[i].total);
		table__free(run->probes[i].table);
		run->probes[i].table = NULL;
		for (unsigned int j = 0; j < RUN_MORE; j++) {
			table__free(run->probes[i].more[j]);
			run->probes[i].more[j] = NULL;
		}
		why__free(run->probes[i].why);
		run->probes[i].why = NULL;
		free(run->probes[i].filter);
		run->probes[i].filter = NULL;
	}
	free(run->pressure.cgroup);
	run->pressure.cgroup = NULL;
	table__free(run->pressure.table);
	run->pressure.table = NULL;
	free(run->workload);
	free(run->host);
	free(run->filter);
	frames__clear(&run->frames);
	run->workload = run->host = run->filter = NULL;
}

void run__free(struct run *run)
{
	if (run)
		run__clear(run);
	free(run);
}

const char *run__more(unsigned int i)
{
	static const char *const names[RUN_MORE] = { "cha",   "pages",	"actions", "sleeps",
						     "waits", "causes", "stacks",  "gaps" };

	return names[i];
}

const struct run_probe *run__probe(const struct run *run, const char *name)
{
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		if (!strcmp(run->probes[i].name, name))
			return &run->probes[i];
	}
	return NULL;
}

struct table *run__table(const struct run_probe *probe, unsigned int which, char name[RUN_NAME])
{
	static const char *const suffixes[] = { "", "_why", "_slow" };

	if (which >= RUN_TABLES - RUN_MORE) {
		which -= RUN_TABLES - RUN_MORE;
		snprintf(name, RUN_NAME, "%.50s_%s", probe->name, run__more(which));
		return probe->more[which];
	}
	snprintf(name, RUN_NAME, "%.50s%s", probe->name, suffixes[which]);
	if (!which)
		return probe->table;
	if (!probe->why)
		return NULL;
	return which == 1 ? probe->why->parts : probe->why->events;
}

struct table *run__nth_table(const struct run *run, unsigned int nth, char name[RUN_NAME])
{
	unsigned int probe = (nth - 1) / RUN_TABLES;

	if (!nth) {
		strcpy(name, PRESSURE_NAME);
		return run->pressure.table;
	}
	if (probe >= run->nr_probes)
		return NULL;
	return run__table(&run->probes[probe], (nth - 1) % RUN_TABLES, name);
}

int run__end_rows(struct run *run, bool folds)
{
	char name[RUN_NAME];
	int err = 0;

	for (unsigned int i = 0; folds && !err && i < run->nr_probes; i++)
		if (run->probes[i].why)
			err = why__sum(run->probes[i].why);
	for (unsigned int i = 0; !err && i < RUN_ALL_TABLES; i++) {
		struct table *table = run__nth_table(run, i, name);

		if (table && folds)
			err = table__fold(table);
		else if (table)
			table__rewind(table);
	}
	return err;
}

uint64_t run__recorded(const struct lat_cell *cell)
{
	return hist__count(&cell->hist);
}

int64_t run__imbalance(const struct lat_cell *cell)
{
	uint64_t terms = run__recorded(cell);

	for (unsigned int i = LAT_SEEN + 1; i < LAT_TERMS; i++)
		terms += cell->counts[i];
	return (int64_t)(cell->counts[LAT_SEEN] - terms);
}

uint64_t run__unseen(const struct run_probe *probe, unsigned int metric)
{
	uint64_t abandoned = probe->total.metrics[metric].counts[LAT_ABANDONED];
	uint64_t missed = probe->recursion_missed;

	return (abandoned > missed ? abandoned : missed) + (metric ? 0 : probe->no_event);
}

static const enum lat_count lost_terms[] = { LAT_MISSED_START, LAT_UNMATCHED, LAT_MAP_FULL,
					     LAT_NEGATIVE };

#define LOST_TERMS (sizeof(lost_terms) / sizeof(lost_terms[0]))

uint64_t run__lost(const struct run_probe *probe, unsigned int metric)
{
	uint64_t lost = run__unseen(probe, metric);

	for (size_t i = 0; i < LOST_TERMS; i++)
		lost += probe->total.metrics[metric].counts[lost_terms[i]];
	return lost;
}

bool run__term_ns(const struct lat_cell *cell, unsigned int term, uint64_t *ns)
{
	const __u64 *counts = cell->counts;

	*ns = 0;
	if (!counts[term] || term == LAT_EXCLUDED || term == LAT_CONTINUED)
		return true;
	if (term == LAT_FILTERED)
		*ns = counts[LAT_FILTERED_NS];
	else if (term == LAT_MISSED_START)
		*ns = counts[LAT_MISSED_START_NS];
	else if (term == LAT_UNMATCHED)
		*ns = counts[LAT_UNMATCHED_NS];
	return *ns && !(term == LAT_MISSED_START && counts[LAT_UNTIMED]);
}

bool run__lost_ns(const struct run_probe *probe, unsigned int metric, uint64_t *ns)
{
	const struct lat_cell *cell = &probe->total.metrics[metric];
	bool known = !run__unseen(probe, metric);
	uint64_t term;

	*ns = 0;
	for (size_t i = 0; i < LOST_TERMS; i++) {
		known &= run__term_ns(cell, lost_terms[i], &term);
		*ns += term;
	}
	return known;
}

void run__copy_cell(struct lat_cell *copy, const struct lat_cell *cell)
{
	for (int i = 0; i < COPIES; i++) {
		memset(copy, 0, sizeof(*copy));
		hist__add_cell(copy, cell);
		if (!run__imbalance(copy))
			break;
	}
}

/* A sample adds to the sum, or, if it is 0, to the first slot. */
static bool is_used(const struct lat_cell *cell)
{
	uint64_t any = cell->hist.sum_ns | cell->hist.slots[0];

	for (unsigned int i = 0; i < LAT_COUNTS; i++)
		any |= cell->counts[i];
	return any;
}

void run__add_cells(struct lat_cell *sum, const struct lat_cell *first, size_t stride, int cpus)
{
	const char *at = (const char *)first;
	struct lat_cell copy;

	for (int cpu = 0; cpu < cpus; cpu++, at += stride) {
		if (!is_used((const struct lat_cell *)at))
			continue;
		run__copy_cell(&copy, (const struct lat_cell *)at);
		hist__add_cell(sum, &copy);
	}
}

static bool same_key(const struct lat_key *a, const struct lat_key *b)
{
	return a->id == b->id && a->by == b->by && a->metric == b->metric;
}

struct run_key *run__find_key(const struct run_data *data, const struct lat_key *key)
{
	for (size_t i = 0; i < data->nr_keys; i++) {
		if (same_key(&data->keys[i].key, key))
			return &data->keys[i];
	}
	return NULL;
}

int run__add_key(struct run_data *data, const struct lat_key *key, const char *name)
{
	struct run_key *added, *keys;

	keys = vec__grow(data->keys, data->nr_keys, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	data->keys = keys;
	added = &data->keys[data->nr_keys++];
	memset(added, 0, sizeof(*added));
	added->key = *key;
	strncpy(added->name, name, sizeof(added->name) - 1);
	return 0;
}

void run__zero_data(struct run_data *data)
{
	memset(data->metrics, 0, sizeof(data->metrics));
	for (size_t i = 0; i < data->nr_keys; i++)
		sparse__zero(&data->keys[i].hist);
}

int run__add_data(struct run_data *to, const struct run_data *from)
{
	int err = 0;

	for (unsigned int i = 0; i < RUN_METRICS; i++)
		hist__add_cell(&to->metrics[i], &from->metrics[i]);
	for (size_t i = 0; !err && i < from->nr_keys; i++) {
		const struct run_key *key = &from->keys[i];

		if (i == to->nr_keys)
			err = run__add_key(to, &key->key, key->name);
		if (!err)
			err = sparse__add(&to->keys[i].hist, &key->hist);
	}
	return err;
}

/* (other), the keys without a row, is last whatever its sum. */
static int by_total_time(const void *left, const void *right)
{
	const struct run_key *a = *(const struct run_key *const *)left;
	const struct run_key *b = *(const struct run_key *const *)right;
	bool a_other = a->key.id == RUN_OTHER_ID, b_other = b->key.id == RUN_OTHER_ID;

	if (a_other != b_other)
		return a_other ? 1 : -1;
	if (a->hist.sum_ns != b->hist.sum_ns)
		return a->hist.sum_ns < b->hist.sum_ns ? 1 : -1;
	return a < b ? -1 : a > b;
}

ssize_t run__ranked_keys(const struct run_data *data, enum lat_by by, unsigned int metric,
			 const struct run_key ***ranked)
{
	const struct run_key **keys;
	size_t nr = 0;

	keys = calloc(data->nr_keys + 1, sizeof(const struct run_key *));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < data->nr_keys; i++) {
		const struct lat_key *key = &data->keys[i].key;

		if (key->by == by && key->metric == metric && sparse__count(&data->keys[i].hist))
			keys[nr++] = &data->keys[i];
	}
	qsort(keys, nr, sizeof(const struct run_key *), by_total_time);
	*ranked = keys;
	return (ssize_t)nr;
}
