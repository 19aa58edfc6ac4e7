// SPDX-License-Identifier: BSD-2-Clause
#include "source.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include <core/hist.h>
#include <core/parts.h>
#include <core/sanitize.h>
#include <core/vec.h>
#include <host/names.h>
#include <net/clickhouse_rows.h>
#include <store/rundb.h>

#define DEPTH 3 /* DIR/HOST/DAY/RECORDING */
#define UNKNOWN "(unknown)"
#define NS 1000000000ULL
#define MOST_THREADS 4194304 /* of Linux */

struct reading {
	struct fleet_data *data;
	uint64_t now_s;
	char **known; /* which recordings were read: host, start and clock */
	size_t nr_known;
	size_t found; /* recordings, also those that cannot be read or lie in another time */
	/* Of the present recording: */
	struct run *run;
	struct rundb *db;
	const struct run_probe *probe;
	struct parts parts; /* of FLEET_SHARE: columns of its table, and the state */
	unsigned int state;
	unsigned int metric;
	char host[RUN_NAME], kernel[RUN_NAME];
	int64_t start_s;
};

/* ---- what a recording says about itself ---- */

static const char *label_of(const struct run *run, const char *name)
{
	for (unsigned int i = 0; i < run->nr_labels; i++)
		if (!strcmp(run->labels[i].key, name))
			return run->labels[i].value;
	return "";
}

static void host_field(const struct json_object *host, const char *name, char out[RUN_NAME])
{
	struct json_object *field = NULL;

	out[0] = '\0';
	if (host && json_object_object_get_ex(host, name, &field) &&
	    json_object_is_type(field, json_type_string))
		sanitize__text(out, RUN_NAME, json_object_get_string(field));
}

/* The directory between DIR and the recording; empty: there is none. */
static void directory_of(const FTSENT *entry, char out[RUN_NAME])
{
	out[0] = '\0';
	if (entry->fts_level < 2)
		return;
	while (entry->fts_level > 1)
		entry = entry->fts_parent;
	sanitize__text(out, RUN_NAME, entry->fts_name);
}

static void name_host(struct reading *reading, const FTSENT *entry)
{
	struct json_object *host =
		reading->run->host ? json_tokener_parse(reading->run->host) : NULL;

	if (!json_object_is_type(host, json_type_object)) {
		json_object_put(host);
		host = NULL;
	}
	host_field(host, "kernel", reading->kernel);
	sanitize__text(reading->host, RUN_NAME, label_of(reading->run, "host"));
	if (!reading->host[0])
		host_field(host, "hostname", reading->host);
	if (!reading->host[0])
		directory_of(entry, reading->host);
	if (!reading->host[0])
		strcpy(reading->host, UNKNOWN);
	json_object_put(host);
}

static int64_t start_of(const struct run *run)
{
	struct tm tm = { 0 };
	const char *end = strptime(run->start_utc, "%Y-%m-%dT%H:%M:%SZ", &tm);

	return end && !*end ? (int64_t)timegm(&tm) : -1;
}

/* The same names as in the tables of serve --clickhouse. */
static void service_of(const struct run_key *key, char out[FLEET_VALUE])
{
	if (!strncmp(key->name, "cgroup ", 7))
		strcpy(out, UNKNOWN);
	else
		clickhouse_rows__service(out, key->name, strchr(key->name, '/') ? key->name : NULL);
}

/* ---- what the question asks of it ---- */

static const char *value_of(const struct reading *reading, const char *name, const char *service)
{
	if (!strcmp(name, "host"))
		return reading->host;
	if (!strcmp(name, "kernel"))
		return reading->kernel;
	if (!strcmp(name, "service"))
		return service;
	return label_of(reading->run, name);
}

static bool is_on(const struct reading *reading, unsigned int side, const char *service)
{
	const struct fleet_side *wanted = &reading->data->question->sides[side];

	for (size_t i = 0; i < wanted->nr; i++) {
		const struct fleet_condition *condition = &wanted->conditions[i];

		if (!fleet_condition__holds(condition, value_of(reading, condition->name, service)))
			return false;
	}
	return true;
}

static void values_of(const struct reading *reading, const char *service,
		      const char *values[FLEET_BY])
{
	const struct fleet_question *question = reading->data->question;

	for (size_t i = 0; i < question->nr_by; i++)
		values[i] = value_of(reading, question->by[i], service);
}

static int add_hist(struct reading *reading, const struct sparse *hist, const char *service)
{
	const struct fleet_question *question = reading->data->question;
	const char *values[FLEET_BY];
	int err = 0;

	values_of(reading, service, values);
	for (unsigned int i = 0; !err && i < fleet_question__sides(question); i++)
		if (is_on(reading, i, service))
			err = fleet_data__add(reading->data, reading->host,
					      reading->probe->metrics[reading->metric].name, values,
					      i, hist);
	return err;
}

static int add_services(struct reading *reading)
{
	const struct run_data *data = &reading->probe->total;
	char service[FLEET_VALUE];
	int err = 0;

	for (size_t i = 0; !err && i < data->nr_keys; i++) {
		const struct run_key *key = &data->keys[i];

		if (key->key.by != LAT_BY_CGROUP || key->key.metric != reading->metric)
			continue;
		service_of(key, service);
		err = add_hist(reading, &key->hist, service);
	}
	return err;
}

static int add_whole(struct reading *reading)
{
	struct sparse hist = { 0 };
	int err;

	err = sparse__set(&hist, &reading->probe->total.metrics[reading->metric].hist);
	if (!err)
		err = add_hist(reading, &hist, "");
	sparse__clear(&hist);
	return err;
}

/* ---- times of threads ---- */

static bool find_state(struct reading *reading)
{
	const struct table *table = reading->probe->table;
	char name[RUN_NAME + 4];
	int found;

	if (!parts__find(table, &reading->parts))
		return false;
	snprintf(name, sizeof(name), "%s_ns", reading->data->question->metric);
	found = table__find_column(table, name);
	reading->state = (unsigned int)found;
	return found > reading->parts.life && found <= reading->parts.life + (int)reading->parts.nr;
}

/* As in the rows of serve: without a path it is unknown; a path may lack its beginning. */
static void service_of_row(const struct reading *reading, size_t row, char out[FLEET_VALUE])
{
	struct table_value path = { 0 };
	char name[RUN_NAME];

	if (reading->parts.cgroup >= 0)
		path = table__value(reading->probe->table, row,
				    (unsigned int)reading->parts.cgroup);
	if (!path.known || (path.text[0] != '/' && strncmp(path.text, "...", 3) != 0)) {
		strcpy(out, UNKNOWN);
		return;
	}
	names__shorten(path.text, name, sizeof(name));
	clickhouse_rows__service(out, name, path.text[0] == '/' ? path.text : NULL);
}

static int add_time(struct reading *reading, size_t row, const char *service)
{
	const struct table *table = reading->probe->table;
	uint64_t ns = (uint64_t)table__value(table, row, reading->state).integer, life_ns = 0;
	const char *values[FLEET_BY];

	for (unsigned int i = 1; i <= reading->parts.nr; i++)
		life_ns += (uint64_t)table__value(table, row, (unsigned int)reading->parts.life + i)
				   .integer;
	values_of(reading, service, values);
	return is_on(reading, 0, service)
		       ? fleet_data__add_time(reading->data, reading->host, values, ns, life_ns)
		       : 0;
}

static int add_times(struct reading *reading, bool by_service)
{
	struct run_interval interval;
	char service[FLEET_VALUE] = "";
	int err = 0, got;

	while (!err && (got = rundb__next(reading->db, &interval)) > 0)
		for (size_t row = 0; !err && row < table__rows(reading->probe->table); row++) {
			if (by_service)
				service_of_row(reading, row, service);
			err = add_time(reading, row, service);
		}
	return err ?: got;
}

/* ---- what is said about the host ---- */

static void refuse(struct fleet_host *host, const char *why)
{
	host->refused++;
	snprintf(host->refused_why, sizeof(host->refused_why), "%s", why);
}

static bool is_future(const struct reading *reading, struct fleet_host *host)
{
	int64_t end_s = reading->start_s + (int64_t)(reading->run->duration_ns / NS);

	/* A recording of now may have started in this second. */
	if (end_s <= (int64_t)reading->now_s + 60)
		return false;
	host->ahead++;
	if (host->ahead_s < end_s - (int64_t)reading->now_s)
		host->ahead_s = end_s - (int64_t)reading->now_s;
	return true;
}

/* Negative times, or more than all threads can have. */
static const char *doubt_times(const struct reading *reading)
{
	const struct table *table = reading->probe->table;
	unsigned int life = (unsigned int)reading->parts.life;
	double sum_ns = table__others(table, life)->sum;

	for (unsigned int i = 0; i <= reading->parts.nr; i++)
		for (size_t j = 0; j < table__keys(table); j++)
			if (table__aggregate(table, j, life + i)->low < 0)
				return "counts";
	for (size_t i = 0; i < table__keys(table); i++)
		sum_ns += table__aggregate(table, i, life)->sum;
	return sum_ns > (double)reading->run->duration_ns * MOST_THREADS ? "sum" : NULL;
}

static const char *doubt(const struct reading *reading)
{
	const struct run_data *data = &reading->probe->total;
	struct sparse whole = { 0 };
	const char *why;

	if (reading->data->question->kind == FLEET_SHARE)
		return doubt_times(reading);
	if (sparse__set(&whole, &data->metrics[reading->metric].hist))
		return "out of memory";
	why = fleet_data__doubt(&whole, reading->run->duration_ns);
	sparse__clear(&whole);
	for (size_t i = 0; !why && i < data->nr_keys; i++)
		why = fleet_data__doubt(&data->keys[i].hist, reading->run->duration_ns);
	return why;
}

/* The span of time is that of the intervals which were read. */
static void account(struct reading *reading, struct fleet_host *host)
{
	const struct run *run = reading->run;
	const struct lat_cell *cell = &reading->probe->total.metrics[reading->metric];
	int64_t from = reading->start_s + (int64_t)(run->span_from_ns / NS);
	int64_t to = from + (int64_t)(run->duration_ns / NS);

	if (host->first_s > from)
		host->first_s = from;
	if (host->last_s < to)
		host->last_s = to;
	host->covered_ns += run->duration_ns;
	if (reading->data->question->kind == FLEET_SHARE)
		return;
	host->recorded += run__recorded(cell);
	if (run->span_to_ns)
		host->lost_known = false;
	else
		host->lost += run__lost(reading->probe, reading->metric);
}

/* A copy of a recording has the same host, start and clock. 1: it is new. */
static int is_new(struct reading *reading)
{
	char *text;

	if (asprintf(&text, "%s %s %llu", reading->host, reading->run->start_utc,
		     (unsigned long long)reading->run->start_mono_ns) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < reading->nr_known; i++) {
		if (strcmp(reading->known[i], text))
			continue;
		free(text);
		return 0;
	}
	if (!vec__append(&reading->known, &reading->nr_known, &text, sizeof(text)))
		return 1;
	free(text);
	return -ENOMEM;
}

/* ---- one recording ---- */

static bool find_metric(struct reading *reading)
{
	const struct fleet_question *question = reading->data->question;
	const struct run *run = reading->run;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		reading->probe = &run->probes[i];
		if (strcmp(reading->probe->name, question->probe) || reading->probe->refused[0])
			continue;
		if (question->kind == FLEET_SHARE)
			return find_state(reading);
		for (reading->metric = 0; reading->metric < reading->probe->nr_metrics;
		     reading->metric++)
			if (!question->metric[0] ||
			    !strcmp(question->metric,
				    reading->probe->metrics[reading->metric].name))
				return true;
	}
	return false;
}

/* Is any side interested in this host? Conditions on services are not known yet. */
static bool concerns(const struct reading *reading)
{
	const struct fleet_question *question = reading->data->question;

	for (unsigned int i = 0; i < fleet_question__sides(question); i++) {
		const struct fleet_side *side = &question->sides[i];
		size_t holds = 0;

		for (size_t j = 0; j < side->nr; j++) {
			const struct fleet_condition *condition = &side->conditions[j];

			holds += !strcmp(condition->name, "service") ||
				 fleet_condition__holds(condition,
							value_of(reading, condition->name, ""));
		}
		if (holds == side->nr)
			return true;
	}
	return false;
}

/* Once for each host. */
static int note_no_services(struct reading *reading, struct fleet_host *host)
{
	if (host->lacks_services)
		return 0;
	host->lacks_services = true;
	return notes__add(&reading->data->notes,
			  "%s has recordings without services: they were not split by cgroup",
			  reading->host);
}

static int add_recording(struct reading *reading)
{
	bool by_service = fleet_question__needs_services(reading->data->question);
	struct fleet_host *host = fleet_data__host(reading->data, reading->host);
	const char *why;
	int got;

	if (!host)
		return -ENOMEM;
	got = is_new(reading);
	if (got <= 0) {
		host->twice += !got;
		return got;
	}
	if (is_future(reading, host))
		return 0;
	why = doubt(reading);
	if (why) {
		refuse(host, why);
		return 0;
	}
	account(reading, host);
	got = fleet_data__method(reading->data, reading->probe->method);
	if (!got && reading->data->question->kind == FLEET_SHARE)
		return add_times(reading, by_service);
	if (!got && by_service && !(reading->probe->by & 1U << LAT_BY_CGROUP))
		return note_no_services(reading, host);
	if (got)
		return got;
	return by_service ? add_services(reading) : add_whole(reading);
}

/* The part of the recording that the question asks for, in ns since its window opened. */
static int open_span(struct reading *reading, const char *path)
{
	const struct fleet_question *question = reading->data->question;
	int64_t skipped;
	int err;

	err = rundb__open(&reading->db, path, reading->run);
	if (err)
		return err;
	reading->start_s = start_of(reading->run);
	skipped = (int64_t)question->from_s - reading->start_s;
	if (reading->start_s < 0)
		err = -EUCLEAN;
	if (err || skipped <= 0)
		return err;
	rundb__close(reading->db);
	reading->db = NULL;
	run__clear(reading->run);
	memset(reading->run, 0, sizeof(*reading->run));
	return rundb__open_span(&reading->db, path, reading->run, (uint64_t)skipped * NS,
				UINT64_MAX);
}

static int left_out(struct reading *reading, const char *path, int err)
{
	char shown[RUN_TEXT];

	if (err == -ENOMEM)
		return err;
	sanitize__text(shown, sizeof(shown), path);
	return notes__add(&reading->data->notes, "%s is left out: %s", shown, rundb__explain(err));
}

static int read_recording(struct reading *reading, const FTSENT *entry)
{
	int err;

	reading->found++;
	reading->run = calloc(1, sizeof(*reading->run));
	if (!reading->run)
		return -ENOMEM;
	err = open_span(reading, entry->fts_path);
	if (err && err != -ENODATA) {
		err = left_out(reading, entry->fts_path, err);
	} else if (!err) {
		name_host(reading, entry);
		if (find_metric(reading) && concerns(reading))
			err = add_recording(reading);
	} else {
		err = 0; /* it ended before the time that is asked for */
	}
	if (reading->db)
		rundb__close(reading->db);
	reading->db = NULL;
	run__free(reading->run);
	reading->run = NULL;
	return err;
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
	return strcmp((*left)->fts_name, (*right)->fts_name);
}

static int walk(struct reading *reading, FTS *tree)
{
	FTSENT *entry;
	int err = 0;

	while (!err && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_DNR && entry->fts_level == 0)
			err = -entry->fts_errno;
		else if (entry->fts_info == FTS_NS && entry->fts_level == 0)
			err = -entry->fts_errno;
		else if (entry->fts_info == FTS_DNR)
			err = left_out(reading, entry->fts_path, -entry->fts_errno);
		if (entry->fts_info != FTS_D)
			continue;
		if (rundb__is_in(entry->fts_accpath) > 0)
			err = read_recording(reading, entry);
		else if (entry->fts_level < DEPTH)
			continue;
		fts_set(tree, entry, FTS_SKIP);
	}
	return err;
}

int source_directory__read(struct fleet_data *data, const char *dir, uint64_t now_s)
{
	struct reading reading = { .data = data, .now_s = now_s };
	char *paths[] = { (char *)dir, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	int err = tree ? walk(&reading, tree) : -errno;

	if (tree)
		fts_close(tree);
	while (reading.nr_known)
		free(reading.known[--reading.nr_known]);
	free(reading.known);
	if (!err && !reading.found)
		err = -ENOENT;
	return !err && !data->nr ? -ENODATA : err;
}
