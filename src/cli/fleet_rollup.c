// SPDX-License-Identifier: BSD-2-Clause
/*
 * fleet rollup: sums up the complete hours and days that have new rows, and deletes partitions that
 * are too old. It works on the tables of one server, which on a cluster are those of a shard.
 *
 * A partition, which is a day, is made anew in a table of its own and then replaced as a whole. So
 * a reader never sees half of it, and an end at any moment leaves the old one. as_of is a time
 * before the rows were read: an hour that got rows since is made again next time.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/sanitize.h>
#include <core/vec.h>
#include <net/clickhouse_sql.h>

#include "cmd.h"
#include "fleet_command.h"
#include "log.h"

#define HOUR_S 3600ULL
#define DAY_S (24 * HOUR_S)
/* An insert takes at most so long from the moment at which its arrival is stamped. */
#define SLACK_S 120
#define ROWS_AT_ONCE 50000000ULL /* of a day, so that memory is bounded */
#define LATE_S (31 * DAY_S) /* arrivals are kept so much longer than rows */
#define TOLD_S (2 * HOUR_S)
#define CANNOT "cannot roll up in"

struct numbers {
	unsigned long long *all; /* owned */
	size_t nr;
};

struct rollup {
	struct fleet *fleet;
	unsigned long long now, as_of, oldest; /* rows before `oldest` may be deleted already */
	unsigned long long rows_days, days;
	char temporary[96]; /* the name of a table */
	size_t hours_done, days_done;
};

/* The answer, to be freed. NULL: the error was printed, and *code is the exit code. */
static char *ask(const struct rollup *rollup, const char *sql, int *code)
{
	struct post_answer answer;
	int err = clickhouse_server__ask(rollup->fleet->server, sql, &answer);

	*code = err ? fleet__failed(rollup->fleet, CANNOT, err, answer.why) : EXIT_DONE;
	return err ? NULL : answer.body.at;
}

static int run(const struct rollup *rollup, const char *sql)
{
	int code;

	free(ask(rollup, sql, &code));
	return code;
}

static int run_format(const struct rollup *rollup, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int run_format(const struct rollup *rollup, const char *format, ...)
{
	char sql[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(sql, sizeof(sql), format, args);
	va_end(args);
	return run(rollup, sql);
}

static int run_file(const struct rollup *rollup, const char *file,
		    const struct clickhouse_word *words)
{
	struct bytes sql = { 0 };
	int code = EXIT_DONE;

	while (!code && clickhouse_sql__next(&file, words, &sql))
		code = run(rollup, sql.at);
	if (sql.failed)
		code = fleet__failed(rollup->fleet, CANNOT, -ENOMEM, strerror(ENOMEM));
	bytes__free(&sql);
	return code;
}

/* All numbers of the answer, one after the other. */
static int ask_numbers(const struct rollup *rollup, const char *sql, struct numbers *numbers)
{
	int code;
	char *text = ask(rollup, sql, &code), *end;
	unsigned long long *all;

	*numbers = (struct numbers){ 0 };
	for (char *at = text; at && *at; at = end + strspn(end, "\t\n")) {
		all = vec__grow(numbers->all, numbers->nr, sizeof(*all));
		if (!all) {
			code = fleet__failed(rollup->fleet, CANNOT, -ENOMEM, strerror(ENOMEM));
			break;
		}
		numbers->all = all;
		all[numbers->nr++] = strtoull(at, &end, 10);
		if (end == at) {
			code = fleet__failed(rollup->fleet, CANNOT, -EREMOTEIO,
					     "unexpected answer");
			break;
		}
	}
	free(text);
	return code;
}

static int begin(struct rollup *rollup)
{
	struct numbers numbers;
	int code = ask_numbers(
		rollup, "SELECT toUnixTimestamp(now()), rows_days, days FROM retention", &numbers);

	if (!code && numbers.nr != 3)
		code = fleet__failed(rollup->fleet, CANNOT, -ENOENT, "it has no retention");
	if (!code) {
		rollup->now = numbers.all[0];
		rollup->as_of = rollup->now - SLACK_S;
		rollup->rows_days = numbers.all[1];
		rollup->days = numbers.all[2];
		rollup->oldest = (rollup->now / DAY_S - rollup->rows_days + 1) * DAY_S;
	}
	free(numbers.all);
	snprintf(rollup->temporary, sizeof(rollup->temporary), "rollup_%llu_%d_%llu", rollup->now,
		 getpid(), (unsigned long long)clock__now_ns());
	return code;
}

/* Tables that an earlier rollup left because it was killed; one that runs is younger. */
static int drop_leftovers(const struct rollup *rollup)
{
	char *rest = NULL, *text;
	int code;

	text = ask(rollup,
		   "SELECT name FROM system.tables WHERE database = currentDatabase() AND "
		   "match(name, '^rollup_[0-9]+_[0-9]+_[0-9]+$')",
		   &code);
	for (char *at = strtok_r(text ? text : "", "\n", &rest); at && !code;
	     at = strtok_r(NULL, "\n", &rest))
		if (strtoull(at + strlen("rollup_"), NULL, 10) + DAY_S < rollup->now)
			code = run_format(rollup, "DROP TABLE IF EXISTS %.200s", at);
	free(text);
	return code;
}

/* ---- partitions that are made anew ---- */

static const char *date(unsigned long long s, char text[32])
{
	const time_t time = (time_t)s;
	struct tm tm;

	gmtime_r(&time, &tm);
	strftime(text, 32, "%Y-%m-%d", &tm);
	return text;
}

/* With the temporary table; it is dropped in any case. `code` is what filling it came to. */
static int replace(const struct rollup *rollup, const char *table, unsigned long long day_s,
		   int code)
{
	char day[32];
	int dropped;

	if (!code)
		code = run_format(rollup, "ALTER TABLE %s REPLACE PARTITION '%s' FROM %s", table,
				  date(day_s, day), rollup->temporary);
	dropped = run_format(rollup, "DROP TABLE IF EXISTS %s", rollup->temporary);
	return code ? code : dropped;
}

static int report_refused(const struct rollup *rollup, unsigned long long hour_s)
{
	char sql[512], what[RUN_TEXT], *rest = NULL, *text;
	int code;

	snprintf(sql, sizeof(sql),
		 "SELECT host, problem, count() FROM rows FINAL WHERE problem != '' AND "
		 "start >= toDateTime(%llu, 'UTC') AND start < toDateTime(%llu, 'UTC') "
		 "GROUP BY host, problem ORDER BY host, problem LIMIT 20",
		 hour_s, hour_s + HOUR_S);
	text = ask(rollup, sql, &code);
	for (char *at = strtok_r(text ? text : "", "\n", &rest); at;
	     at = strtok_r(NULL, "\n", &rest)) {
		const char *host = strsep(&at, "\t"), *problem = strsep(&at, "\t");

		snprintf(what, sizeof(what), "%s rows of host %.80s refused", at ? at : "some",
			 host);
		sanitize__in_place(what);
		log__warn(what, problem ? problem : "",
			  "they contradict themselves; see PROBLEMS in latscope-fleet(1)");
	}
	free(text);
	return code;
}

static int fill_hour(struct rollup *rollup, unsigned long long hour_s)
{
	struct clickhouse_word words[] = {
		{ .name = "into" }, { .name = "as_of" }, { .name = "start" }, { 0 }
	};
	int code;

	snprintf(words[0].value, sizeof(words[0].value), "%s", rollup->temporary);
	snprintf(words[1].value, sizeof(words[1].value), "%llu", rollup->as_of);
	snprintf(words[2].value, sizeof(words[2].value), "%llu", hour_s);
	code = run_file(rollup, clickhouse_hours, words);
	if (!code)
		code = report_refused(rollup, hour_s);
	rollup->hours_done += !code;
	return code;
}

/* Hours of one day, of which the others are copied. Returns their number in *nr. */
static int make_hours(struct rollup *rollup, const unsigned long long *hours, size_t left,
		      size_t *nr)
{
	unsigned long long day = hours[0] / DAY_S;
	char sql[1024], text[32];
	size_t used;
	int code;

	used = (size_t)snprintf(sql, sizeof(sql),
				"INSERT INTO %s SELECT * FROM hours WHERE toDate(hour) = '%s' AND "
				"toUnixTimestamp(hour) NOT IN (0",
				rollup->temporary, date(day * DAY_S, text));
	for (*nr = 0; *nr < left && hours[*nr] / DAY_S == day; ++*nr)
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, ", %llu", hours[*nr]);
	snprintf(sql + used, sizeof(sql) - used, ")");
	code = run_format(rollup, "CREATE TABLE %s AS hours", rollup->temporary);
	if (code)
		return code;
	code = run(rollup, sql);
	for (size_t i = 0; i < *nr && !code; i++)
		code = fill_hour(rollup, hours[i]);
	return replace(rollup, "hours", day * DAY_S, code);
}

static int count_slices(const struct rollup *rollup, unsigned long long day_s,
			unsigned long long *slices)
{
	struct numbers numbers;
	char sql[256];
	int code;

	snprintf(sql, sizeof(sql),
		 "SELECT count() FROM rows WHERE start >= toDateTime(%llu, 'UTC') AND "
		 "start < toDateTime(%llu, 'UTC')",
		 day_s, day_s + DAY_S);
	code = ask_numbers(rollup, sql, &numbers);
	*slices = 1 + (numbers.nr ? numbers.all[0] / ROWS_AT_ONCE : 0);
	free(numbers.all);
	return code;
}

static int make_day(struct rollup *rollup, unsigned long long day_s)
{
	struct clickhouse_word words[] = { { .name = "into" },	{ .name = "as_of" },
					   { .name = "start" }, { .name = "slices" },
					   { .name = "slice" }, { 0 } };
	unsigned long long slices;
	int code = count_slices(rollup, day_s, &slices);

	if (!code)
		code = run_format(rollup, "CREATE TABLE %s AS days", rollup->temporary);
	if (code)
		return code;
	snprintf(words[0].value, sizeof(words[0].value), "%s", rollup->temporary);
	snprintf(words[1].value, sizeof(words[1].value), "%llu", rollup->as_of);
	snprintf(words[2].value, sizeof(words[2].value), "%llu", day_s);
	snprintf(words[3].value, sizeof(words[3].value), "%llu", slices);
	for (unsigned long long slice = 0; slice < slices && !code; slice++) {
		snprintf(words[4].value, sizeof(words[4].value), "%llu", slice);
		code = run_file(rollup, clickhouse_days, words);
	}
	rollup->days_done += !code;
	return replace(rollup, "days", day_s, code);
}

/* ---- what is to be done ---- */

/* Hours whose rows are partly deleted already are not made anew. Told for a while. */
static int report_too_late(const struct rollup *rollup)
{
	struct numbers numbers;
	char sql[512], what[RUN_TEXT];
	int code;

	snprintf(sql, sizeof(sql),
		 "SELECT count() FROM (SELECT hour, max(received) AS last FROM arrivals "
		 "WHERE toUnixTimestamp(hour) < %llu GROUP BY hour "
		 "HAVING toUnixTimestamp(last) >= %llu)",
		 rollup->oldest, rollup->now - TOLD_S);
	code = ask_numbers(rollup, sql, &numbers);
	if (!code && numbers.nr && numbers.all[0]) {
		snprintf(what, sizeof(what), "late rows of %llu hours are in no roll-up",
			 numbers.all[0]);
		log__warn(what, "other rows of these hours may be deleted already",
			  "keep rows longer: 'latscope fleet init --keep-rows'");
	}
	free(numbers.all);
	return code;
}

static int make_all_hours(struct rollup *rollup)
{
	struct numbers hours;
	char sql[1024];
	size_t nr;
	int code;

	snprintf(sql, sizeof(sql),
		 "SELECT toUnixTimestamp(hour) FROM "
		 "(SELECT hour, max(received) AS last FROM arrivals "
		 "WHERE toUnixTimestamp(hour) >= %llu AND toUnixTimestamp(hour) + 3600 <= %llu "
		 "GROUP BY hour) ANY LEFT JOIN "
		 "(SELECT hour, max(as_of) AS made FROM hours GROUP BY hour) USING hour "
		 "WHERE last >= made ORDER BY hour",
		 rollup->oldest, rollup->now);
	code = ask_numbers(rollup, sql, &hours);
	for (size_t i = 0; i < hours.nr && !code; i += nr)
		code = make_hours(rollup, hours.all + i, hours.nr - i, &nr);
	free(hours.all);
	return code;
}

static int make_all_days(struct rollup *rollup)
{
	struct numbers days;
	char sql[1024];
	int code;

	snprintf(sql, sizeof(sql),
		 "SELECT number * 86400 FROM "
		 "(SELECT toUInt32(intDiv(toUnixTimestamp(hour), 86400)) AS number, "
		 "max(received) AS last FROM arrivals "
		 "WHERE toUnixTimestamp(hour) >= %llu AND toUnixTimestamp(hour) < %llu "
		 "GROUP BY number) ANY LEFT JOIN "
		 "(SELECT toUInt32(toUInt16(day)) AS number, max(as_of) AS made FROM days "
		 "GROUP BY number) USING number WHERE last >= made ORDER BY number",
		 rollup->oldest, rollup->now / DAY_S * DAY_S);
	code = ask_numbers(rollup, sql, &days);
	for (size_t i = 0; i < days.nr && !code; i++)
		code = make_day(rollup, days.all[i]);
	free(days.all);
	return code;
}

/* Partitions have names that sort like their dates. */
static int drop_old(const struct rollup *rollup, const char *table, const char *before)
{
	char sql[512], *rest = NULL, *text;
	int code;

	snprintf(sql, sizeof(sql),
		 "SELECT DISTINCT partition FROM system.parts WHERE active AND "
		 "database = currentDatabase() AND table = '%s' AND partition < '%s'",
		 table, before);
	text = ask(rollup, sql, &code);
	for (char *at = strtok_r(text ? text : "", "\n", &rest); at && !code;
	     at = strtok_r(NULL, "\n", &rest))
		code = run_format(rollup, "ALTER TABLE %s DROP PARTITION '%.32s'", table, at);
	free(text);
	return code;
}

static int drop_all_old(const struct rollup *rollup)
{
	unsigned long long rows = rollup->now - rollup->rows_days * DAY_S;
	unsigned long long sums = rollup->now - rollup->days * DAY_S;
	char day[32];
	int code = drop_old(rollup, "rows", date(rows, day));

	if (!code)
		code = drop_old(rollup, "hours", date(sums, day));
	if (!code)
		code = drop_old(rollup, "days", day);
	return code ? code : drop_old(rollup, "arrivals", date(rows - LATE_S, day));
}

/* A clock that is ahead: the rows are counted in the hour that they claim once it has come. */
static int report_ahead(const struct rollup *rollup)
{
	char what[RUN_TEXT], *rest = NULL, *text;
	int code;

	text = ask(rollup,
		   "SELECT host, max(toUnixTimestamp(start)) - toUnixTimestamp(now()) FROM rows "
		   "WHERE toUnixTimestamp(start) > toUnixTimestamp(now()) + 120 "
		   "AND start > now() GROUP BY host ORDER BY host LIMIT 20",
		   &code);
	for (char *at = strtok_r(text ? text : "", "\n", &rest); at;
	     at = strtok_r(NULL, "\n", &rest)) {
		const char *host = strsep(&at, "\t");

		snprintf(what, sizeof(what), "the clock of host %.80s is ahead by %s s", host,
			 at ? at : "?");
		sanitize__in_place(what);
		log__warn(what, "its rows count in the hours that they claim", "set its clock");
	}
	free(text);
	return code;
}

int fleet__rollup(struct fleet *fleet)
{
	struct rollup rollup = { .fleet = fleet };
	int code = fleet__open(fleet);

	if (!code)
		code = fleet__use_shard(fleet);
	if (!code)
		code = begin(&rollup);
	if (!code)
		code = drop_leftovers(&rollup);
	if (!code)
		code = make_all_hours(&rollup);
	if (!code)
		code = make_all_days(&rollup);
	if (!code)
		code = report_too_late(&rollup);
	if (!code)
		code = report_ahead(&rollup);
	if (!code)
		code = drop_all_old(&rollup);
	if (!code)
		log__note("%zu hours and %zu days rolled up", rollup.hours_done, rollup.days_done);
	return code;
}
