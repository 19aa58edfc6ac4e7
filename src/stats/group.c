// SPDX-License-Identifier: BSD-2-Clause
#include "group.h"

#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <core/hist.h>
#include <core/split.h>
#include <core/vec.h>
#include <store/rundb.h>

/* A requested key, and the series that gets its events. */
struct placed {
	struct group_series *series;
	size_t key;
};

/* The recording that is read at present. */
struct reading {
	struct group *group;
	struct group_recording *recording;
	const char *probe; /* NULL: all */
	uint32_t by;
	struct placed *placed[RUN_PROBES]; /* keys of the same series are adjacent */
	size_t nr_placed[RUN_PROBES];
};

static int fail(struct group *group, const char *path, int err)
{
	size_t len = strlen(path), most = sizeof(group->failed) - 1;

	snprintf(group->failed, sizeof(group->failed), "%s", path + (len > most ? len - most : 0));
	return err;
}

static int add_recording(struct group *group, const char *path)
{
	const struct group_recording made = { .path = strdup(path) };
	int err = made.path ? 0 : -ENOMEM;

	if (!err)
		err = vec__append(&group->recordings, &group->nr, &made, sizeof(made));
	if (err)
		free(made.path);
	return err;
}

static int is_recording(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? rundb__is_in(path) : 1;
}

static int add_below(struct group *group, const char *dir, const char *name)
{
	char *path;
	int err;

	if (name[0] == '.')
		return 0;
	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	err = rundb__is_in(path);
	if (err > 0)
		err = add_recording(group, path);
	else if (err)
		fail(group, path, err);
	free(path);
	return err;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(((const struct group_recording *)left)->path,
		      ((const struct group_recording *)right)->path);
}

static int scan(struct group *group, const char *path)
{
	size_t before = group->nr;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		err = add_below(group, path, entry->d_name);
	closedir(dir);
	return err || group->nr > before ? err : -ENOENT;
}

static int find(struct group *group, const char *path)
{
	int err = is_recording(path);

	if (!err)
		err = scan(group, path);
	else if (err > 0)
		err = add_recording(group, path);
	return err && !group->failed[0] ? fail(group, path, err) : err;
}

int group__find_all(struct group *group, const char *const *paths, size_t nr)
{
	int err = 0;

	memset(group, 0, sizeof(*group));
	for (size_t i = 0; !err && i < nr; i++)
		err = find(group, paths[i]);
	if (!err)
		qsort(group->recordings, group->nr, sizeof(*group->recordings), by_path);
	return err;
}

int group__find(struct group *group, const char *path)
{
	return group__find_all(group, &path, 1);
}

void group__key_name(const struct run_key *key, char name[RUN_NAME])
{
	snprintf(name, RUN_NAME, "%s", key->name);
	if (key->key.by == LAT_BY_PROCESS || key->key.by == LAT_BY_THREAD)
		name[split__name_length(name)] = '\0';
}

static int by_name(const void *left, const void *right)
{
	const struct group_series *a = left, *b = right;
	int order;

	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	order = strcmp(a->key, b->key);
	if (!order)
		order = strcmp(a->metric, b->metric);
	return order ? order : strcmp(a->probe, b->probe);
}

static void name_series(struct group_series *series, const char *probe, const char *metric, int by,
			const char *key)
{
	memset(series, 0, sizeof(*series));
	snprintf(series->probe, RUN_NAME, "%s", probe);
	snprintf(series->metric, RUN_NAME, "%s", metric);
	snprintf(series->key, RUN_NAME, "%s", key);
	series->by = by;
}

const struct group_series *group__series(const struct group *group, const char *probe,
					 const char *metric, int by, const char *key)
{
	const struct group_series *const *found;
	struct group_series sought;

	name_series(&sought, probe, metric, by, key);
	found = tfind(&sought, &group->index, by_name);
	return found ? *found : NULL;
}

/* Finds or adds a series; NULL: no memory. */
static struct group_series *place_series(struct group *group, const struct run_probe *probe,
					 unsigned int metric, int by, const char *key)
{
	struct group_series *made, **grown, **found;

	grown = vec__grow(group->series, group->nr_series, sizeof(*grown));
	if (!grown)
		return NULL;
	group->series = grown;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	name_series(made, probe->name, probe->metrics[metric].name, by, key);
	found = tsearch(made, &group->index, by_name);
	if (found && *found == made)
		group->series[group->nr_series++] = made;
	else
		free(made);
	return found ? *found : NULL;
}

static int add_observation(struct reading *reading, struct group_series *series,
			   const struct lat_hist *hist)
{
	struct observation observation = {
		.window = reading->group->nr_windows - 1,
		.recording = (unsigned int)(reading->recording - reading->group->recordings),
	};
	int err;

	if (!hist__count(hist))
		return 0;
	err = observation__take(&observation, hist)
		      ?: vec__append(&series->observations, &series->nr, &observation,
				     sizeof(observation));
	if (err)
		observation__clear(&observation);
	return err;
}

static bool wanted(const struct reading *reading, const struct run_probe *probe)
{
	return !probe->refused[0] && (!reading->probe || !strcmp(reading->probe, probe->name));
}

static int by_series(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return a->series < b->series ? -1 : a->series > b->series;
}

/* The keys of a run keep their order, so their series are looked up only once. */
static int place_keys(struct reading *reading, unsigned int index)
{
	const struct run_probe *probe = &reading->recording->run->probes[index];
	const struct run_data *data = &probe->total;
	struct placed *placed;
	char name[RUN_NAME];
	size_t nr = 0;

	placed = calloc(data->nr_keys + 1, sizeof(*placed));
	if (!placed)
		return -ENOMEM;
	reading->placed[index] = placed;
	for (size_t i = 0; i < data->nr_keys; i++) {
		const struct lat_key *key = &data->keys[i].key;

		if (!(reading->by & 1U << key->by) || key->id == RUN_OTHER_ID)
			continue;
		group__key_name(&data->keys[i], name);
		placed[nr].key = i;
		placed[nr].series =
			place_series(reading->group, probe, key->metric, (int)key->by, name);
		if (!placed[nr++].series)
			return -ENOMEM;
	}
	qsort(placed, nr, sizeof(*placed), by_series);
	reading->nr_placed[index] = nr;
	return 0;
}

/* Adds up keys of the same name, which are one observation. */
static int add_keys(struct reading *reading, unsigned int index, const struct run_data *data)
{
	const struct placed *placed = reading->placed[index];
	size_t nr = reading->nr_placed[index];
	struct lat_hist sum = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		sparse__add_to(&sum, &data->keys[placed[i].key].hist);
		if (i + 1 < nr && placed[i + 1].series == placed[i].series)
			continue;
		err = add_observation(reading, placed[i].series, &sum);
		memset(&sum, 0, sizeof(sum));
	}
	return err;
}

static int add_metric(struct reading *reading, const struct run_probe *probe, unsigned int metric,
		      const struct lat_hist *hist)
{
	struct group_series *series;

	series = place_series(reading->group, probe, metric, GROUP_WHOLE, "");
	return series ? add_observation(reading, series, hist) : -ENOMEM;
}

/* Adds an observation to each requested series, from one struct run_data per probe, over `ns`. */
static int add_observations(struct reading *reading, const struct run_data *const data[RUN_PROBES],
			    uint64_t ns)
{
	const struct run *run = reading->recording->run;
	int err;

	err = vec__append(&reading->group->windows_ns, &reading->group->nr_windows, &ns,
			  sizeof(ns));
	reading->recording->observations++;
	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		if (!wanted(reading, probe))
			continue;
		for (unsigned int j = 0; !err && j < probe->nr_metrics; j++)
			err = add_metric(reading, probe, j, &data[i]->metrics[j].hist);
		if (!err)
			err = add_keys(reading, i, data[i]);
	}
	return err;
}

/* To the window that add_observations() is about to add. */
static int add_shares(struct reading *reading,
		      int (*add)(struct shares *to, const struct run_probe *probe, size_t window))
{
	const struct run *run = reading->recording->run;
	struct group *group = reading->group;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		if (wanted(reading, &run->probes[i]))
			err = add(&group->shares, &run->probes[i], group->nr_windows);
	return err;
}

static int read_whole(struct reading *reading)
{
	const struct run *run = reading->recording->run;
	const struct run_data *data[RUN_PROBES];

	int err = add_shares(reading, shares__add_sums);

	for (unsigned int i = 0; i < run->nr_probes; i++)
		data[i] = &run->probes[i].total;
	return err ? err : add_observations(reading, data, run->duration_ns);
}

static int add_interval(const struct reading *reading, const struct run_interval *interval,
			struct run_data *sums)
{
	const struct run *run = reading->recording->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		struct run_data delta = interval->delta[i];

		if (!reading->by)
			delta.nr_keys = 0; /* there may be very many, and none is requested */
		if (wanted(reading, &run->probes[i]))
			err = run__add_data(&sums[i], &delta);
	}
	return err;
}

/* All batches have the same number of intervals, or one more. */
static int read_batches(struct reading *reading, struct rundb *db, unsigned int batches)
{
	unsigned int intervals = reading->recording->intervals, at = 0;
	const struct run_data *data[RUN_PROBES];
	struct run_interval interval;
	struct run_data *sums;
	int err = 0, got;
	uint64_t ns;

	sums = calloc(RUN_PROBES, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		data[i] = &sums[i];
	for (unsigned int i = 0; !err && i < batches; i++) {
		ns = 0;
		for (; !err && at < (uint64_t)intervals * (i + 1) / batches; at++) {
			got = rundb__next(db, &interval);
			err = got > 0 ? add_interval(reading, &interval, sums) : got;
			if (got > 0 && !err)
				err = add_shares(reading, shares__add_rows);
			ns += got > 0 ? interval.end_ns - interval.start_ns : 0;
		}
		if (!err)
			err = add_observations(reading, data, ns);
		for (unsigned int j = 0; j < RUN_PROBES; j++)
			run__zero_data(&sums[j]);
	}
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		run__clear_data(&sums[i]);
	free(sums);
	return err;
}

static int read_observations(struct reading *reading, struct rundb *db, bool batches)
{
	const struct run *run = reading->recording->run;
	unsigned int nr = 0;
	ssize_t intervals;
	int err = 0;

	intervals = rundb__intervals(db);
	if (intervals < 0)
		return (int)intervals;
	reading->recording->intervals = (unsigned int)intervals;
	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		if (wanted(reading, &run->probes[i]))
			err = place_keys(reading, i);
	}
	if (batches)
		nr = observation__batches(reading->recording->intervals);
	if (!err)
		err = nr ? read_batches(reading, db, nr) : read_whole(reading);
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		free(reading->placed[i]);
	return err;
}

static int read_recording(struct reading *reading, bool batches)
{
	struct group_recording *recording = reading->recording;
	struct rundb *db;
	struct run *run;
	int err;

	run = calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	err = rundb__open(&db, recording->path, run);
	if (err) {
		free(run);
		return err;
	}
	recording->run = run;
	err = read_observations(reading, db, batches);
	rundb__close(db);
	for (unsigned int i = 0; i < run->nr_probes; i++)
		run__clear_data(&run->probes[i].total);
	return err;
}

int group__read(struct group *group, const char *probe, uint32_t by, bool batches)
{
	int err;

	for (size_t i = 0; i < group->nr; i++) {
		struct reading reading = {
			.group = group, .recording = &group->recordings[i], .probe = probe, .by = by
		};

		err = read_recording(&reading, batches);
		if (err)
			return fail(group, group->recordings[i].path, err);
	}
	return 0;
}

static void clear_series(struct group_series *series)
{
	for (size_t i = 0; i < series->nr; i++)
		observation__clear(&series->observations[i]);
	free(series->observations);
	free(series);
}

static void keep_node(void *node)
{
	(void)node;
}

void group__clear(struct group *group)
{
	tdestroy(group->index, keep_node);
	shares__clear(&group->shares);
	for (size_t i = 0; i < group->nr_series; i++)
		clear_series(group->series[i]);
	for (size_t i = 0; i < group->nr; i++) {
		run__free(group->recordings[i].run);
		free(group->recordings[i].path);
	}
	free(group->series);
	free(group->windows_ns);
	free(group->recordings);
	memset(group, 0, sizeof(*group));
}
