// SPDX-License-Identifier: BSD-2-Clause
#include "series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

static const char *name_of(const struct run_key *key)
{
	if (key->key.id == RUN_OTHER_ID)
		return SERIES_OTHER;
	return key->name[0] == '/' || !strncmp(key->name, "...", 3) ? key->name : SERIES_UNKNOWN;
}

/* The index of a name, -1: none. *idle is the one that has had no sample for longest. */
static ssize_t find(const struct series *series, unsigned int probe, unsigned int metric,
		    const char *name, size_t *count, size_t *idle)
{
	ssize_t found = -1;

	*count = 0;
	*idle = SIZE_MAX;
	for (size_t i = 0; i < series->nr && found < 0; i++) {
		const struct exported *one = &series->all[i];

		if (one->probe != probe || one->metric != metric)
			continue;
		++*count;
		if (!strcmp(one->name, name))
			found = (ssize_t)i;
		if (one->name[0] != '(' &&
		    (*idle == SIZE_MAX || one->last_ns < series->all[*idle].last_ns))
			*idle = i;
	}
	return found;
}

static void forget_keys(struct series *series, unsigned int probe, size_t index)
{
	for (size_t i = 0; i < series->of_key[probe].nr; i++)
		if (series->of_key[probe].index[i] == index + 1)
			series->of_key[probe].index[i] = 0;
}

static void start(struct exported *one, unsigned int probe, const struct run_key *key,
		  const char *name, uint64_t now)
{
	sparse__clear(&one->hist);
	free(one->path);
	memset(one, 0, sizeof(*one));
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->probe = probe;
	one->metric = key->key.metric;
	one->last_ns = now;
}

/* The index of the one that gets the key's samples; -ENOMEM. */
static ssize_t choose(struct series *series, unsigned int probe, const struct run_key *key,
		      uint64_t now)
{
	const char *name = name_of(key);
	struct exported *all;
	size_t count, idle;
	ssize_t at;

	at = find(series, probe, key->key.metric, name, &count, &idle);
	if (at >= 0)
		return at;
	if (name[0] != '(' && count >= series->most) {
		if (idle != SIZE_MAX && now - series->all[idle].last_ns >= SERIES_IDLE_NS) {
			forget_keys(series, probe, idle);
			start(&series->all[idle], probe, key, name, now);
			return (ssize_t)idle;
		}
		name = SERIES_OTHER;
		at = find(series, probe, key->key.metric, name, &count, &idle);
		if (at >= 0)
			return at;
	}
	all = vec__grow(series->all, series->nr, sizeof(*all));
	if (!all)
		return -ENOMEM;
	series->all = all;
	memset(&all[series->nr], 0, sizeof(*all));
	start(&all[series->nr], probe, key, name, now);
	return (ssize_t)series->nr++;
}

static void set_cgroup(const struct series *series, struct exported *one, uint64_t id)
{
	const char *path = series->names ? names__cgroup_path(series->names, id) : NULL;

	one->cgroup = id;
	if (!path || (one->path && !strcmp(one->path, path)))
		return;
	free(one->path);
	one->path = strdup(path);
}

static int add_key(struct series *series, unsigned int probe, const struct run_key *key, size_t at,
		   uint64_t now)
{
	uint32_t *known = &series->of_key[probe].index[at];
	struct exported *one;

	if (!*known) {
		ssize_t index = choose(series, probe, key, now);

		if (index < 0)
			return (int)index;
		*known = (uint32_t)index + 1;
	}
	one = &series->all[*known - 1];
	one->last_ns = now;
	if (one->name[0] != '(' && one->cgroup != key->key.id)
		set_cgroup(series, one, key->key.id);
	if (one->name[0] == '(') /* there may be room for it next time */
		*known = key->key.id == RUN_OTHER_ID ? *known : 0;
	return sparse__add(&one->hist, &key->hist);
}

static int make_room(struct series *series, unsigned int probe, size_t nr)
{
	uint32_t *grown;

	while (series->of_key[probe].nr < nr) {
		grown = vec__grow(series->of_key[probe].index, series->of_key[probe].nr,
				  sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		series->of_key[probe].index = grown;
		grown[series->of_key[probe].nr++] = 0;
	}
	return 0;
}

static void forget_positions(struct series *series, unsigned int probe, unsigned int generation)
{
	if (series->of_key[probe].nr)
		memset(series->of_key[probe].index, 0,
		       series->of_key[probe].nr * sizeof(*series->of_key[probe].index));
	series->of_key[probe].generation = generation;
}

static bool has_samples(const struct run_key *key)
{
	return key->key.by == LAT_BY_CGROUP && (key->hist.nr || key->hist.sum_ns);
}

int series__add(struct series *series, const struct run *run, const struct run_interval *interval)
{
	int err = 0;

	for (unsigned int probe = 0; !err && probe < run->nr_probes; probe++) {
		const struct run_data *delta = &interval->delta[probe];

		if (series->of_key[probe].generation != run->probes[probe].generation)
			forget_positions(series, probe, run->probes[probe].generation);
		err = make_room(series, probe, delta->nr_keys);
		for (size_t i = 0; !err && i < delta->nr_keys; i++)
			if (has_samples(&delta->keys[i]))
				err = add_key(series, probe, &delta->keys[i], i, interval->end_ns);
	}
	return err;
}

const char *series__path(const struct series *series, const char *name)
{
	for (size_t i = 0; i < series->nr; i++)
		if (series->all[i].path && !strcmp(series->all[i].name, name))
			return series->all[i].path;
	return NULL;
}

void series__free(struct series *series)
{
	for (size_t i = 0; i < series->nr; i++) {
		sparse__clear(&series->all[i].hist);
		free(series->all[i].path);
	}
	free(series->all);
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		free(series->of_key[i].index);
	memset(series, 0, sizeof(*series));
}
