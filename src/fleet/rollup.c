// SPDX-License-Identifier: BSD-2-Clause
/*
 * It works on the tables of one server, which on a cluster are those of a shard. A partition, which
 * is a day, is made anew in a table of its own and then replaced as a whole. So a reader never sees
 * half of it, and after a kill at any moment the old partition is still there. {as_of} is a time
 * before the rows were read: an hour that got rows since is made again next time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/sanitize.h>

#include "tables.h"

#define DAY_S (24 * 3600ULL)
/* An insert takes at most so long from the moment at which its arrival is stamped. */
#define SLACK_S 120
#define FIELDS 3

enum word { NOW, AS_OF, OLDEST, ROWS_DAYS, DAYS, INTO, TABLE, DAY, HOURS, START, SLICES, SLICE };

struct rollup {
	struct fleet_server *server;
	struct fleet_rollup *told;
	struct clickhouse_word words[SLICE + 2];
	char temporary[96]; /* the name of a table */
};

/* A row of an answer. Fields that it lacks are empty. */
typedef int take_row(struct rollup *rollup, char *fields[FIELDS]);

static int set(struct rollup *rollup, enum word word, const char *value)
{
	char *to = rollup->words[word].value;
	int len = snprintf(to, sizeof(rollup->words[word].value), "%s", value);

	if (len < (int)sizeof(rollup->words[word].value))
		return 0;
	return fleet_server__fail(rollup->server, -EREMOTEIO, "unexpected answer");
}

static void set_number(struct rollup *rollup, enum word word, unsigned long long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	set(rollup, word, text);
}

static int run(struct rollup *rollup, const char *step)
{
	return fleet_server__run_file(rollup->server, clickhouse_sql__step(step), rollup->words,
				      NULL);
}

static int for_each_row(struct rollup *rollup, const char *step, take_row *take)
{
	char *answer, *line, *rest = NULL;
	int err = fleet_server__run_file(rollup->server, clickhouse_sql__step(step), rollup->words,
					 &answer);

	if (err)
		return err;
	for (line = strtok_r(answer, "\n", &rest); !err && line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *fields[FIELDS];

		for (size_t i = 0; i < FIELDS; i++)
			fields[i] = strsep(&line, "\t") ?: "";
		err = take(rollup, fields);
	}
	free(answer);
	return err;
}

static int take_retention(struct rollup *rollup, char *fields[FIELDS])
{
	unsigned long long now = strtoull(fields[0], NULL, 10);
	unsigned long long rows_days = strtoull(fields[1], NULL, 10);

	set_number(rollup, NOW, now);
	set_number(rollup, AS_OF, now - SLACK_S);
	set_number(rollup, ROWS_DAYS, rows_days);
	/* Rows before it may be deleted already. */
	set_number(rollup, OLDEST, (now / DAY_S - rows_days + 1) * DAY_S);
	snprintf(rollup->temporary, sizeof(rollup->temporary), "rollup_%llu_%d_%llu", now, getpid(),
		 (unsigned long long)clock__now_ns());
	return set(rollup, DAYS, fields[2]);
}

static int begin(struct rollup *rollup)
{
	int err = for_each_row(rollup, "retention", take_retention);

	if (!err && !rollup->words[DAYS].value[0])
		err = fleet_server__fail(rollup->server, -ENOENT, "it has no retention");
	return err;
}

static int drop_leftover(struct rollup *rollup, char *fields[FIELDS])
{
	int err = set(rollup, INTO, fields[0]);

	return err ? err : run(rollup, "drop");
}

/* ---- partitions that are made anew ---- */

static void warn_of(struct rollup *rollup, char what[POST_TEXT], const char *why, const char *todo)
{
	sanitize__in_place(what);
	rollup->told->warn(what, why, todo);
}

static int report_refused(struct rollup *rollup, char *fields[FIELDS])
{
	char what[POST_TEXT];

	snprintf(what, sizeof(what), "%s rows of host %.80s refused",
		 fields[2][0] ? fields[2] : "some", fields[0]);
	warn_of(rollup, what, fields[1],
		"they contradict themselves; see PROBLEMS in latscope-fleet(1)");
	return 0;
}

/* With the temporary table; it is dropped in any case. `err` is what filling it came to. */
static int replace(struct rollup *rollup, int err)
{
	int dropped;

	if (!err)
		err = run(rollup, "replace");
	dropped = run(rollup, "drop");
	return err ? err : dropped;
}

static int begin_day(struct rollup *rollup, const char *table, const char *day)
{
	set(rollup, TABLE, table);
	set(rollup, INTO, rollup->temporary);
	return set(rollup, DAY, day);
}

static int fill_hour(struct rollup *rollup, const char *hour)
{
	int err = set(rollup, START, hour);

	if (!err)
		err = fleet_server__run_file(rollup->server, clickhouse_hours, rollup->words, NULL);
	if (!err)
		err = for_each_row(rollup, "refused", report_refused);
	rollup->told->hours += !err;
	return err;
}

/* A day, and hours of it. */
static int make_hours(struct rollup *rollup, char *fields[FIELDS])
{
	char *hour, *rest = NULL;
	int err = begin_day(rollup, "hours", fields[0]);

	if (!err)
		err = set(rollup, HOURS, fields[1]);
	if (!err)
		err = run(rollup, "begin_hours");
	for (hour = strtok_r(fields[1], ",", &rest); !err && hour;
	     hour = strtok_r(NULL, ",", &rest))
		err = fill_hour(rollup, hour);
	return replace(rollup, err);
}

static int take_slices(struct rollup *rollup, char *fields[FIELDS])
{
	return set(rollup, SLICES, fields[0]);
}

static int make_day(struct rollup *rollup, char *fields[FIELDS])
{
	unsigned long long slices;
	int err = begin_day(rollup, "days", fields[0]);

	if (!err)
		err = set(rollup, START, fields[1]);
	if (!err)
		err = for_each_row(rollup, "slices", take_slices);
	if (!err)
		err = run(rollup, "begin_days");
	slices = strtoull(rollup->words[SLICES].value, NULL, 10);
	for (unsigned long long slice = 0; slice < slices && !err; slice++) {
		set_number(rollup, SLICE, slice);
		err = fleet_server__run_file(rollup->server, clickhouse_days, rollup->words, NULL);
	}
	rollup->told->days += !err;
	return replace(rollup, err);
}

/* ---- the rest ---- */

static int report_late(struct rollup *rollup, char *fields[FIELDS])
{
	char what[POST_TEXT];

	snprintf(what, sizeof(what), "late rows of %.20s hours are in no roll-up", fields[0]);
	warn_of(rollup, what, "other rows of these hours may be deleted already",
		"keep rows longer: 'latscope fleet init --keep-rows'");
	return 0;
}

static int report_ahead(struct rollup *rollup, char *fields[FIELDS])
{
	char what[POST_TEXT];

	snprintf(what, sizeof(what), "the clock of host %.80s is ahead by %.20s s", fields[0],
		 fields[1][0] ? fields[1] : "?");
	warn_of(rollup, what, "its rows count in the hours that they claim", "set its clock");
	return 0;
}

static int drop_partition(struct rollup *rollup, char *fields[FIELDS])
{
	int err = set(rollup, TABLE, fields[0]);

	if (!err)
		err = set(rollup, DAY, fields[1]);
	return err ? err : run(rollup, "drop_partition");
}

static int use_shard(struct fleet_server *server)
{
	char local[CLICKHOUSE_NAME + 8];
	bool is_shard;
	int err = fleet_server__ask_yes(server, "is_shard", &is_shard);

	snprintf(local, sizeof(local), "%s_local", server->address.database);
	return err || !is_shard ? err : fleet_server__use(server, local);
}

int fleet_tables__rollup(struct fleet_server *server, struct fleet_rollup *told)
{
	static const struct {
		const char *step;
		take_row *take;
	} steps[] = {
		{ "leftovers", drop_leftover }, { "hours", make_hours },
		{ "days", make_day },		{ "late", report_late },
		{ "ahead", report_ahead },	{ "old", drop_partition },
	};
	struct rollup rollup = {
		.server = server,
		.told = told,
		.words = { { "now" },
			   { "as_of" },
			   { "oldest" },
			   { "rows_days" },
			   { "days" },
			   { "into" },
			   { "table" },
			   { "day" },
			   { "hours" },
			   { "start" },
			   { "slices" },
			   { "slice" } },
	};
	int err = use_shard(server);

	server->action = "cannot roll up in";
	if (!err)
		err = begin(&rollup);
	for (size_t i = 0; !err && i < sizeof(steps) / sizeof(steps[0]); i++)
		err = for_each_row(&rollup, steps[i].step, steps[i].take);
	return err;
}
