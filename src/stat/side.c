// SPDX-License-Identifier: BSD-2-Clause
#include "side.h"

#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <base/grow.h>
#include <base/hist.h>
#include <base/rundb.h>

/* A key that is wanted, and where its events go. */
struct placed {
	struct side_series *series;
	size_t key;
};

/* A recording that is being read. */
struct reading {
	struct side *side;
	struct side_recording *recording;
	const char *module; /* NULL: all */
	uint32_t by;
	struct placed *placed[RUN_MODULES]; /* those of one series next to each other */
	size_t nr_placed[RUN_MODULES];
};

static int fail(struct side *side, const char *path, int err)
{
	size_t len = strlen(path), most = sizeof(side->failed) - 1;

	snprintf(side->failed, sizeof(side->failed), "%s", path + (len > most ? len - most : 0));
	return err;
}

static int add_recording(struct side *side, const char *path)
{
	struct side_recording *grown;

	grown = grow__one(side->recordings, side->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	side->recordings = grown;
	grown[side->nr] = (struct side_recording){ .path = strdup(path) };
	return grown[side->nr++].path ? 0 : -ENOMEM;
}

static int is_recording(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? rundb__is_in(path) : 1;
}

static int add_below(struct side *side, const char *dir, const char *name)
{
	char *path;
	int err;

	if (name[0] == '.')
		return 0;
	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	err = rundb__is_in(path);
	if (err > 0)
		err = add_recording(side, path);
	else if (err)
		fail(side, path, err);
	free(path);
	return err;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(((const struct side_recording *)left)->path,
		      ((const struct side_recording *)right)->path);
}

static int scan(struct side *side, const char *path)
{
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		err = add_below(side, path, entry->d_name);
	closedir(dir);
	if (!err && !side->nr)
		err = -ENOENT;
	if (!err)
		qsort(side->recordings, side->nr, sizeof(*side->recordings), by_path);
	return err;
}

int side__find(struct side *side, const char *path)
{
	int err;

	memset(side, 0, sizeof(*side));
	err = is_recording(path);
	if (!err)
		err = scan(side, path);
	else if (err > 0)
		err = add_recording(side, path);
	return err && !side->failed[0] ? fail(side, path, err) : err;
}

const struct run_module *side__module(const struct run *run, const char *name)
{
	for (unsigned int i = 0; i < run->nr_modules; i++) {
		if (!strcmp(run->modules[i].name, name))
			return &run->modules[i];
	}
	return NULL;
}

void side__key_name(const struct run_key *key, char name[RUN_NAME])
{
	char *number;

	snprintf(name, RUN_NAME, "%s", key->name);
	if (key->key.by != LAT_BY_PROCESS && key->key.by != LAT_BY_THREAD)
		return;
	number = strrchr(name, '(');
	if (number && number - name > 1)
		number[-1] = '\0';
}

static int by_name(const void *left, const void *right)
{
	const struct side_series *a = left, *b = right;
	int order;

	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	order = strcmp(a->key, b->key);
	if (!order)
		order = strcmp(a->metric, b->metric);
	return order ? order : strcmp(a->module, b->module);
}

static void name_series(struct side_series *series, const char *module, const char *metric, int by,
			const char *key)
{
	memset(series, 0, sizeof(*series));
	snprintf(series->module, RUN_NAME, "%s", module);
	snprintf(series->metric, RUN_NAME, "%s", metric);
	snprintf(series->key, RUN_NAME, "%s", key);
	series->by = by;
}

const struct side_series *side__series(const struct side *side, const char *module,
				       const char *metric, int by, const char *key)
{
	const struct side_series *const *found;
	struct side_series sought;

	name_series(&sought, module, metric, by, key);
	found = tfind(&sought, &side->index, by_name);
	return found ? *found : NULL;
}

/* Finds or makes it; NULL: there is no memory. */
static struct side_series *place_series(struct side *side, const struct run_module *module,
					unsigned int metric, int by, const char *key)
{
	struct side_series *made, **grown, **found;

	grown = grow__one(side->series, side->nr_series, sizeof(*grown));
	if (!grown)
		return NULL;
	side->series = grown;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	name_series(made, module->name, module->metrics[metric].name, by, key);
	found = tsearch(made, &side->index, by_name);
	if (found && *found == made)
		side->series[side->nr_series++] = made;
	else
		free(made);
	return found ? *found : NULL;
}

static int add_unit(struct reading *reading, struct side_series *series,
		    const struct lat_hist *hist)
{
	struct unit *grown;
	int err;

	if (!hist__count(hist))
		return 0;
	grown = grow__one(series->units, series->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	series->units = grown;
	err = unit__take(&grown[series->nr], hist);
	if (err)
		return err;
	grown[series->nr].window = reading->side->nr_windows - 1;
	grown[series->nr++].recording =
		(unsigned int)(reading->recording - reading->side->recordings);
	return 0;
}

static bool wanted(const struct reading *reading, const struct run_module *module)
{
	return !module->refused[0] && (!reading->module || !strcmp(reading->module, module->name));
}

static int by_series(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return a->series < b->series ? -1 : a->series > b->series;
}

/* The keys of a run stay in their order, so their series are looked up once. */
static int place_keys(struct reading *reading, unsigned int index)
{
	const struct run_module *module = &reading->recording->run->modules[index];
	const struct run_data *data = &module->total;
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
		side__key_name(&data->keys[i], name);
		placed[nr].key = i;
		placed[nr].series =
			place_series(reading->side, module, key->metric, (int)key->by, name);
		if (!placed[nr++].series)
			return -ENOMEM;
	}
	qsort(placed, nr, sizeof(*placed), by_series);
	reading->nr_placed[index] = nr;
	return 0;
}

/* Keys of one name are added up before they become a unit. */
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
		err = add_unit(reading, placed[i].series, &sum);
		memset(&sum, 0, sizeof(sum));
	}
	return err;
}

static int add_metric(struct reading *reading, const struct run_module *module, unsigned int metric,
		      const struct lat_hist *hist)
{
	struct side_series *series;

	series = place_series(reading->side, module, metric, SIDE_WHOLE, "");
	return series ? add_unit(reading, series, hist) : -ENOMEM;
}

static int add_window(struct side *side, uint64_t ns)
{
	uint64_t *grown = grow__one(side->windows_ns, side->nr_windows, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	side->windows_ns = grown;
	grown[side->nr_windows++] = ns;
	return 0;
}

/* One unit of everything that is wanted, from one struct run_data per module, of so much time. */
static int add_units(struct reading *reading, const struct run_data *const data[RUN_MODULES],
		     uint64_t ns)
{
	const struct run *run = reading->recording->run;
	int err;

	err = add_window(reading->side, ns);
	reading->recording->units++;
	for (unsigned int i = 0; !err && i < run->nr_modules; i++) {
		const struct run_module *module = &run->modules[i];

		if (!wanted(reading, module))
			continue;
		for (unsigned int j = 0; !err && j < module->nr_metrics; j++)
			err = add_metric(reading, module, j, &data[i]->metrics[j].hist);
		if (!err)
			err = add_keys(reading, i, data[i]);
	}
	return err;
}

static int read_whole(struct reading *reading)
{
	const struct run *run = reading->recording->run;
	const struct run_data *data[RUN_MODULES];

	for (unsigned int i = 0; i < run->nr_modules; i++)
		data[i] = &run->modules[i].total;
	return add_units(reading, data, run->duration_ns);
}

static int add_interval(const struct reading *reading, const struct run_interval *interval,
			struct run_data *sums)
{
	const struct run *run = reading->recording->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_modules; i++) {
		struct run_data delta = interval->delta[i];

		if (!reading->by)
			delta.nr_keys = 0; /* there may be very many, and none is wanted */
		if (wanted(reading, &run->modules[i]))
			err = run__add_data(&sums[i], &delta);
	}
	return err;
}

/* Batches have the same number of intervals but for one. */
static int read_batches(struct reading *reading, struct rundb *db, unsigned int batches)
{
	unsigned int intervals = reading->recording->intervals, at = 0;
	const struct run_data *data[RUN_MODULES];
	struct run_interval interval;
	struct run_data *sums;
	int err = 0, got;
	uint64_t ns;

	sums = calloc(RUN_MODULES, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (unsigned int i = 0; i < RUN_MODULES; i++)
		data[i] = &sums[i];
	for (unsigned int i = 0; !err && i < batches; i++) {
		ns = 0;
		for (; !err && at < (uint64_t)intervals * (i + 1) / batches; at++) {
			got = rundb__next(db, &interval);
			err = got > 0 ? add_interval(reading, &interval, sums) : got;
			ns += got > 0 ? interval.end_ns - interval.start_ns : 0;
		}
		if (!err)
			err = add_units(reading, data, ns);
		for (unsigned int j = 0; j < RUN_MODULES; j++)
			run__zero_data(&sums[j]);
	}
	for (unsigned int i = 0; i < RUN_MODULES; i++)
		run__clear_data(&sums[i]);
	free(sums);
	return err;
}

static int read_units(struct reading *reading, struct rundb *db, bool batches)
{
	const struct run *run = reading->recording->run;
	unsigned int nr = 0;
	ssize_t intervals;
	int err = 0;

	intervals = rundb__intervals(db);
	if (intervals < 0)
		return (int)intervals;
	reading->recording->intervals = (unsigned int)intervals;
	for (unsigned int i = 0; !err && i < run->nr_modules; i++) {
		if (wanted(reading, &run->modules[i]))
			err = place_keys(reading, i);
	}
	if (batches)
		nr = unit__batches(reading->recording->intervals);
	if (!err)
		err = nr ? read_batches(reading, db, nr) : read_whole(reading);
	for (unsigned int i = 0; i < RUN_MODULES; i++)
		free(reading->placed[i]);
	return err;
}

static int read_recording(struct reading *reading, bool batches)
{
	struct side_recording *recording = reading->recording;
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
	err = read_units(reading, db, batches);
	rundb__close(db);
	for (unsigned int i = 0; i < run->nr_modules; i++)
		run__clear_data(&run->modules[i].total);
	return err;
}

int side__read(struct side *side, const char *module, uint32_t by, bool batches)
{
	int err;

	for (size_t i = 0; i < side->nr; i++) {
		struct reading reading = {
			.side = side, .recording = &side->recordings[i], .module = module, .by = by
		};

		err = read_recording(&reading, batches);
		if (err)
			return fail(side, side->recordings[i].path, err);
	}
	return 0;
}

static void clear_series(struct side_series *series)
{
	for (size_t i = 0; i < series->nr; i++)
		unit__clear(&series->units[i]);
	free(series->units);
	free(series);
}

static void keep_node(void *node)
{
	(void)node;
}

void side__clear(struct side *side)
{
	tdestroy(side->index, keep_node);
	for (size_t i = 0; i < side->nr_series; i++)
		clear_series(side->series[i]);
	for (size_t i = 0; i < side->nr; i++) {
		run__free(side->recordings[i].run);
		free(side->recordings[i].path);
	}
	free(side->series);
	free(side->windows_ns);
	free(side->recordings);
	memset(side, 0, sizeof(*side));
}
