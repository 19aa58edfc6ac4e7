// SPDX-License-Identifier: BSD-2-Clause
#include "fio_result.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"

#define NAME "fio.json"
#define MARK "\"fio version\""
#define MOST_BYTES (4 << 20)

static const char *const directions[] = { "read", "write" };
#define DIRECTIONS (sizeof(directions) / sizeof(*directions))

/* ---- files ---- */

/* Ends with a zero byte; NULL: none, too long or unreadable. */
static char *read_text(int fd, off_t from, off_t end)
{
	size_t len = end > from && end - from <= MOST_BYTES ? (size_t)(end - from) : 0;
	char *text = len ? calloc(1, len + 1) : NULL;

	if (text && pread(fd, text, len, from) == (ssize_t)len)
		return text;
	free(text);
	return NULL;
}

/* The object in which the mark is, and its length; NULL: it is not whole. */
static const char *find_result(const char *text, size_t *len)
{
	const char *mark = strstr(text, MARK), *start = mark;
	struct json_tokener *tokener;
	struct json_object *object;

	while (start && start > text && *start != '{')
		start--;
	if (!start || *start != '{')
		return NULL;
	tokener = json_tokener_new();
	if (!tokener)
		return NULL;
	object = json_tokener_parse_ex(tokener, start, (int)strlen(start));
	*len = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	json_object_put(object);
	return object ? start : NULL;
}

/* The file of a recording; no link is followed. Returns a descriptor or -errno. */
static int open_result(const struct experiment *experiment, const char *in, const char *recording,
		       int flags)
{
	const int directory = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int at = openat(experiment->dir, in, directory), below = -1, fd = -1, err;

	if (at >= 0)
		below = openat(at, recording, directory);
	if (below >= 0)
		fd = openat(below, NAME, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	err = -errno;
	if (at >= 0)
		close(at);
	if (below >= 0)
		close(below);
	return fd < 0 ? err : fd;
}

static int write_result(const struct experiment *experiment, const char *name,
			const char *recording, const char *text, size_t len)
{
	int err = caller__enter(&experiment->owner), fd;

	if (err)
		return err;
	fd = open_result(experiment, name, recording, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		err = fd;
	else if (write(fd, text, len) != (ssize_t)len)
		err = -EIO;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	caller__leave();
	return err;
}

int fio_result__keep(const struct experiment *experiment, off_t from, const char *name,
		     const char *recording)
{
	off_t end = lseek(experiment->child.log, 0, SEEK_END);
	char *text = read_text(experiment->child.log, from, end);
	const char *result;
	size_t len = 0;
	int err = 0;

	result = text ? find_result(text, &len) : NULL;
	if (result)
		err = write_result(experiment, name, recording, result, len);
	free(text);
	return err;
}

/* NULL: there is none. */
static struct json_object *load(const struct experiment *experiment, size_t side, size_t run)
{
	char of[DIRECTORY_SIDE], recording[32];
	struct json_object *object = NULL;
	char *text;
	int fd;

	directory__side(&experiment->plan, side, of);
	snprintf(recording, sizeof(recording), "%03zu", run + 1);
	fd = open_result(experiment, of, recording, O_RDONLY);
	if (fd < 0)
		return NULL;
	text = read_text(fd, 0, lseek(fd, 0, SEEK_END));
	close(fd);
	if (text)
		object = json_tokener_parse(text);
	free(text);
	return object;
}

/* ---- values ---- */

/* NAN: it is not there, or not more than 0. */
static double number_of(struct json_object *object, const char *name)
{
	struct json_object *value;
	double number;

	if (!json_object_object_get_ex(object, name, &value))
		return NAN;
	number = json_object_get_double(value);
	return number > 0 ? number : NAN;
}

/* Of a statistic that fio does not have: NAN. */
static double value_of(struct json_object *of, unsigned int statistic)
{
	struct json_object *latency = NULL, *percentiles = NULL;
	char name[32];

	if (statistic == JUDGE_RATE)
		return number_of(of, "iops");
	json_object_object_get_ex(of, "clat_ns", &latency);
	if (statistic == JUDGE_MEAN)
		return number_of(latency, "mean");
	if (statistic < JUDGE_QUANTILE || statistic >= JUDGE_QUANTILE + SUMMARY_QUANTILES)
		return NAN;
	json_object_object_get_ex(latency, "percentile", &percentiles);
	snprintf(name, sizeof(name), "%f", strtod(judge__name(statistic) + 1, NULL));
	return number_of(percentiles, name);
}

/* What its only job did in one direction; NULL: nothing. */
static struct json_object *direction_of(struct json_object *result, const char *direction)
{
	struct json_object *jobs, *of;

	if (!json_object_object_get_ex(result, "jobs", &jobs) ||
	    !json_object_is_type(jobs, json_type_array) || json_object_array_length(jobs) != 1 ||
	    !json_object_object_get_ex(json_object_array_get_idx(jobs, 0), direction, &of) ||
	    isnan(number_of(of, "total_ios")))
		return NULL;
	return of;
}

/* The geometric mean of the runs, as with latscope's own values. Returns the number of runs. */
static size_t read_cell(const struct experiment *experiment, size_t side, const char *direction,
			double values[JUDGE_STATISTICS])
{
	double logs[JUDGE_STATISTICS] = { 0 };
	size_t runs = 0;

	for (size_t run = 0; run < experiment->done[side]; run++) {
		struct json_object *result = load(experiment, side, run);
		struct json_object *of = direction_of(result, direction);

		for (unsigned int i = 0; of && i < JUDGE_STATISTICS; i++)
			logs[i] += log(value_of(of, i));
		runs += of != NULL;
		json_object_put(result);
	}
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		values[i] = runs ? exp(logs[i] / (double)runs) : NAN;
	return runs;
}

/* ---- rows ---- */

static int add_row(struct cell_table *table, size_t side, const char *direction,
		   const double reference[JUDGE_STATISTICS], const double values[JUDGE_STATISTICS])
{
	struct table_row *row = cell_table__add_row(table, side);

	if (!row)
		return -ENOMEM;
	row->unjudged = true;
	strcpy(row->probe, "fio");
	snprintf(row->metric, sizeof(row->metric), "%s", direction);
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++)
		row->statistics[i] = (struct judged){ .off = reference[i],
						      .on = values[i],
						      .ratio = values[i] / reference[i],
						      .low = NAN,
						      .high = NAN,
						      .p = NAN,
						      .adjusted = NAN,
						      .spread = NAN };
	return 0;
}

static int add_cell(struct cell_table *table, size_t side, const char *direction,
		    const double reference[JUDGE_STATISTICS])
{
	const struct experiment *experiment = table->experiment;
	size_t done = experiment->done[side], runs;
	double values[JUDGE_STATISTICS];
	int err;

	runs = read_cell(experiment, side, direction, values);
	if (!runs)
		return 0;
	err = add_row(table, side, direction, reference, values);
	if (!err && runs < done)
		err = notes__add(&table->warnings, "%s: fio's result of %zu of %zu runs is missing",
				 experiment->plan.sides[side].name, done - runs, done);
	return err;
}

int fio_result__add_rows(struct cell_table *table)
{
	const struct experiment *experiment = table->experiment;
	double reference[JUDGE_STATISTICS];
	int err = 0;

	for (unsigned int i = 0; !err && i < DIRECTIONS; i++) {
		read_cell(experiment, experiment->plan.reference, directions[i], reference);
		for (size_t side = 0; !err && side < experiment->plan.nr_sides; side++)
			err = add_cell(table, side, directions[i], reference);
	}
	return err;
}
