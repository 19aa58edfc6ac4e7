// SPDX-License-Identifier: BSD-2-Clause
#include "counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/parts.h>
#include <core/pressure.h>

#define OTHER "(other)" /* processes that have no counters of their own */

struct counter {
	uint64_t uuid; /* 0: it has no track yet */
	double last;
};

enum { RATE, P50, P99, MAX, SERIES };

/* A process, thread or cgroup. */
struct account {
	uint64_t group; /* 0: it has no tracks yet */
	uint64_t interval; /* number of the last one that it has a row in */
	struct counter life, parts[TABLE_COLUMNS];
	double life_ns, part_ns[TABLE_COLUMNS]; /* of this interval */
};

/* Of a probe that divides the time of threads. */
struct accounts {
	struct parts columns;
	struct account *accounts; /* by key of the table; the last one is (other); NULL: none */
	size_t nr;
};

struct counters {
	struct packets *packets;
	struct tracks *tracks;
	const struct run *run;
	const uint64_t *groups;
	uint64_t pressure_group; /* 0: there is none yet */
	struct counter metrics[RUN_PROBES][RUN_METRICS][SERIES];
	struct counter pressure[TABLE_COLUMNS];
	struct accounts accounts[RUN_PROBES];
	uint64_t interval, end_ns; /* the last one */
};

/* A counter that was never other than 0 has no track. */
static void set(struct counters *counters, struct counter *counter,
		const struct packet_track *track, uint64_t at_ns, double value)
{
	if (value == counter->last)
		return;
	if (!counter->uuid)
		counter->uuid = packets__track(counters->packets, track);
	counter->last = value;
	packets__count(counters->packets, (int64_t)at_ns, counter->uuid, value);
}

/* ---- metrics ---- */

static void set_metric(struct counters *counters, unsigned int probe, unsigned int metric,
		       const struct run_interval *interval)
{
	static const char *const names[SERIES] = { "events", "p50", "p99", "max" };
	const struct run_probe *of = &counters->run->probes[probe];
	const struct lat_hist *hist = &interval->delta[probe].metrics[metric].hist;
	uint64_t count = hist__count(hist);
	double length_s = (double)(interval->end_ns - interval->start_ns) / 1e9;
	const double values[SERIES] = {
		[RATE] = length_s > 0 ? (double)count / length_s : 0,
		[P50] = (double)hist__quantile_of(hist, count, 0.5) / 1e3,
		[P99] = (double)hist__quantile_of(hist, count, 0.99) / 1e3,
		[MAX] = (double)hist->max_ns / 1e3,
	};
	char name[2 * RUN_NAME], scale[3 * RUN_NAME];

	for (unsigned int i = 0; i < SERIES; i++) {
		const struct packet_track track = {
			.parent = counters->groups[probe],
			.name = name,
			.what = of->metrics[metric].what,
			.rank = (int)(1 + SERIES * metric + i),
			.counts = true,
			.unit = i == RATE ? "1/s" : "us",
			.scale = i == RATE ? NULL : scale,
		};

		snprintf(name, sizeof(name), "%s %s", of->metrics[metric].name, names[i]);
		snprintf(scale, sizeof(scale), "%s %s", of->name, of->metrics[metric].name);
		set(counters, &counters->metrics[probe][metric][i], &track, interval->start_ns,
		    values[i]);
	}
}

/* ---- pressure ---- */

/* Times are shares, everything else is a rate. */
static void set_pressure(struct counters *counters, const struct run_interval *interval)
{
	const struct packet_track group = { .name = PRESSURE_NAME, .ranks = true };
	const struct table *table = counters->run->pressure.table;
	double length_ns = (double)(interval->end_ns - interval->start_ns);
	size_t rows = table ? table__rows(table) : 0;

	for (unsigned int i = 0; rows && length_ns > 0 && i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);
		const struct table_value value = table__value(table, rows - 1, i);
		bool is_time = !strcmp(column->unit, "ns");
		struct packet_track track = {
			.name = column->name,
			.what = column->what,
			.rank = (int)i + 1,
			.counts = true,
			.unit = is_time ? "%" : "1/s",
			.scale = is_time ? PRESSURE_NAME : NULL,
		};

		if (!value.known || value.kind != TABLE_INTEGER)
			continue;
		if (!counters->pressure_group)
			counters->pressure_group = packets__track(counters->packets, &group);
		track.parent = counters->pressure_group;
		set(counters, &counters->pressure[i], &track, interval->start_ns,
		    (double)value.integer / length_ns * (is_time ? 100 : 1e9));
	}
}

/* ---- parts of threads' time ---- */

static int find_accounts(struct counters *counters)
{
	for (unsigned int i = 0; i < counters->run->nr_probes; i++) {
		const struct table *table = counters->run->probes[i].table;
		struct accounts *to = &counters->accounts[i];

		if (!parts__find(table, &to->columns))
			continue;
		to->nr = table__keys(table) + 1;
		to->accounts = calloc(to->nr, sizeof(*to->accounts));
		if (!to->accounts)
			return -ENOMEM;
	}
	return 0;
}

static struct table_value key_of(const struct table *table, size_t key, int column)
{
	if (column < 0 || key >= table__keys(table))
		return (struct table_value){ 0 };
	return table__key(table, key, (unsigned int)column);
}

/* The track that the counters are below: of a process, of a thread, or of the probe. */
static void make_group(struct counters *counters, unsigned int probe, size_t key)
{
	const struct table *table = counters->run->probes[probe].table;
	const struct parts *columns = &counters->accounts[probe].columns;
	const struct table_value pid = key_of(table, key, columns->pid);
	const struct table_value tid = key_of(table, key, columns->tid);
	const struct table_value comm = key_of(table, key, columns->comm);
	const struct table_value cgroup = key_of(table, key, columns->cgroup);
	const char *name = comm.known ? comm.text : cgroup.known ? cgroup.text : OTHER;
	struct packet_track group = { .parent = counters->groups[probe],
				      .name = name,
				      .ranks = true };

	if (pid.known && pid.integer > 0) {
		group.name = counters->run->probes[probe].name;
		group.parent =
			tid.known && tid.integer > 0
				? tracks__thread(counters->tracks, pid.integer, tid.integer, name)
				: tracks__process(counters->tracks, pid.integer, name);
	}
	counters->accounts[probe].accounts[key].group = packets__track(counters->packets, &group);
}

/* Threads that were in a part, on average. `part` 0: life. */
static void set_part(struct counters *counters, unsigned int probe, struct account *account,
		     unsigned int part, uint64_t at_ns, double threads)
{
	const struct parts *columns = &counters->accounts[probe].columns;
	const struct table_column *column = table__column(counters->run->probes[probe].table,
							  (unsigned int)columns->life + part);
	char name[RUN_NAME], scale[RUN_NAME];
	const struct packet_track track = {
		.parent = account->group,
		.name = name,
		.what = column->what,
		.rank = (int)part + 1,
		.counts = true,
		.unit = "threads",
		.scale = scale,
	};

	snprintf(name, sizeof(name), "%.*s", (int)strlen(column->name) - 3, column->name);
	snprintf(scale, sizeof(scale), "threads %llu", (unsigned long long)account->group);
	set(counters, part ? &account->parts[part - 1] : &account->life, &track, at_ns, threads);
}

static void add_row(struct counters *counters, unsigned int probe, size_t row)
{
	const struct table *table = counters->run->probes[probe].table;
	struct accounts *of = &counters->accounts[probe];
	size_t key = table__key_of(table, row);
	struct account *account = &of->accounts[key < of->nr ? key : of->nr - 1];

	if (account->interval != counters->interval) {
		account->interval = counters->interval;
		account->life_ns = 0;
		memset(account->part_ns, 0, sizeof(account->part_ns));
	}
	for (unsigned int part = 0; part <= of->columns.nr; part++) {
		const struct table_value value =
			table__value(table, row, (unsigned int)of->columns.life + part);

		if (!value.known)
			continue;
		*(part ? &account->part_ns[part - 1] : &account->life_ns) += (double)value.integer;
	}
}

static void set_parts(struct counters *counters, unsigned int probe,
		      const struct run_interval *interval)
{
	struct accounts *of = &counters->accounts[probe];
	double length_ns = (double)(interval->end_ns - interval->start_ns);
	size_t rows = of->nr ? table__rows(counters->run->probes[probe].table) : 0;

	for (size_t row = 0; row < rows; row++)
		add_row(counters, probe, row);
	for (size_t key = 0; length_ns > 0 && key < of->nr; key++) {
		struct account *account = &of->accounts[key];
		bool there = account->interval == counters->interval;

		if (there && !account->group)
			make_group(counters, probe, key);
		for (unsigned int i = 0; account->group && i <= of->columns.nr; i++)
			set_part(counters, probe, account, i, interval->start_ns,
				 there ? (i ? account->part_ns[i - 1] : account->life_ns) /
						 length_ns
				       : 0);
	}
}

/* ---- all ---- */

int counters__new(struct counters **out, struct packets *packets, struct tracks *tracks,
		  const struct run *run, const uint64_t groups[RUN_PROBES])
{
	struct counters *counters = calloc(1, sizeof(*counters));

	*out = counters;
	if (!counters)
		return -ENOMEM;
	counters->packets = packets;
	counters->tracks = tracks;
	counters->run = run;
	counters->groups = groups;
	return find_accounts(counters);
}

void counters__free(struct counters *counters)
{
	for (unsigned int i = 0; counters && i < RUN_PROBES; i++)
		free(counters->accounts[i].accounts);
	free(counters);
}

void counters__interval(struct counters *counters, const struct run_interval *interval)
{
	const struct run *run = counters->run;

	counters->interval++;
	counters->end_ns = interval->end_ns;
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		set_parts(counters, i, interval);
		for (unsigned int j = 0; counters->groups[i] && j < run->probes[i].nr_metrics; j++)
			set_metric(counters, i, j, interval);
	}
	set_pressure(counters, interval);
}

/* A value must not seem to hold for longer than its interval. */
static void end(struct counters *counters, struct counter *counter)
{
	set(counters, counter, NULL, counters->end_ns, 0);
}

void counters__end(struct counters *counters)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++) {
		struct accounts *of = &counters->accounts[i];

		for (unsigned int j = 0; j < RUN_METRICS * SERIES; j++)
			end(counters, &counters->metrics[i][j / SERIES][j % SERIES]);
		for (size_t key = 0; key < of->nr; key++) {
			end(counters, &of->accounts[key].life);
			for (unsigned int j = 0; j < of->columns.nr; j++)
				end(counters, &of->accounts[key].parts[j]);
		}
	}
	for (unsigned int i = 0; i < TABLE_COLUMNS; i++)
		end(counters, &counters->pressure[i]);
}
