// SPDX-License-Identifier: BSD-2-Clause
#include "sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void fleet_sql__text(struct bytes *to, const char *text)
{
	bytes__text(to, "'");
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < ' ' || byte > '~' || byte == '\'' || byte == '\\')
			bytes__printf(to, "\\x%02X", byte);
		else
			bytes__add(to, text, 1);
	}
	bytes__text(to, "'");
}

/* The expression for a name: a column, or what follows "NAME=" in the labels; '' without it. */
static void add_name(struct bytes *to, const char *name)
{
	char label[RUN_NAME + 1];

	if (!strcmp(name, "host") || !strcmp(name, "kernel")) {
		bytes__text(to, name);
		return;
	}
	if (!strcmp(name, "service")) {
		bytes__text(to, "key");
		return;
	}
	snprintf(label, sizeof(label), "%s=", name);
	bytes__printf(to, "substring(arrayFirst(l -> substring(l, 1, %zu) = ", strlen(label));
	fleet_sql__text(to, label);
	bytes__printf(to, ", labels), %zu)", strlen(label) + 1);
}

static void add_condition(struct bytes *to, const struct fleet_condition *condition)
{
	size_t len = strlen(condition->value);

	if (strcmp(condition->name, "kernel") != 0) {
		add_name(to, condition->name);
		bytes__text(to, " = ");
		fleet_sql__text(to, condition->value);
		return;
	}
	bytes__printf(to, "substring(kernel, 1, %zu) = ", len);
	fleet_sql__text(to, condition->value);
	bytes__printf(to, " AND NOT match(substring(kernel, %zu, 1), '[0-9]')", len + 1);
}

static void add_metric(struct bytes *to, const struct fleet_question *question, bool services)
{
	bytes__text(to, "probe = ");
	fleet_sql__text(to, question->probe);
	if (question->metric[0] && question->kind != FLEET_SHARE) { /* a share needs all states */
		bytes__text(to, " AND metric = ");
		fleet_sql__text(to, question->metric);
	}
	bytes__printf(to, " AND split = '%s'", services ? "service" : "");
}

/* What a side asks of hosts, and with `services` of services. */
static void add_side(struct bytes *to, const struct fleet_side *side, bool services)
{
	bytes__text(to, "1");
	for (size_t i = 0; i < side->nr; i++) {
		if (!services && !strcmp(side->conditions[i].name, "service"))
			continue;
		bytes__text(to, " AND ");
		add_condition(to, &side->conditions[i]);
	}
}

static void add_from(struct bytes *to, const struct fleet_question *question)
{
	bytes__printf(to, "start >= toDateTime(%" PRIu64 ", 'UTC')", question->from_s);
}

/* A row of the next minute is still of now. */
static void add_time(struct bytes *to, const struct fleet_question *question)
{
	add_from(to, question);
	bytes__printf(to, " AND start < toDateTime(%" PRIu64 ", 'UTC')", question->to_s + 60);
}

void fleet_sql__days(struct bytes *to, const struct fleet_question *question)
{
	bytes__text(to, "SELECT toString(day) AS name FROM (SELECT DISTINCT day FROM days WHERE ");
	bytes__printf(to,
		      "toUInt32(day) * 86400 >= %" PRIu64
		      " AND (toUInt32(day) + 1) * 86400 <= %" PRIu64,
		      question->from_s, question->to_s);
	bytes__text(to, ") ORDER BY name FORMAT TabSeparated");
}

static void add_columns(struct bytes *to, const struct fleet_question *question)
{
	bytes__text(to, "host, metric");
	for (size_t i = 0; i < question->nr_by; i++) {
		bytes__text(to, ", ");
		add_name(to, question->by[i]);
		bytes__printf(to, " AS b%zu", i);
	}
	bytes__text(to, question->kind == FLEET_SHARE
				? ", sum_ns"
				: ", hist.slot AS s, hist.n AS n, sum_ns, max_ns, tail");
}

/* Which rows: what they are of, in which columns. */
struct selection {
	const struct fleet_question *question;
	const struct fleet_days *days;
	int side; /* -1: of both sides together */
	bool services;
	void (*columns)(struct bytes *to, const struct fleet_question *question, bool of_days);
};

static void add_conditions(struct bytes *to, const struct selection *selection)
{
	const struct fleet_question *question = selection->question;

	add_metric(to, question, selection->services);
	bytes__text(to, " AND (");
	add_side(to, &question->sides[selection->side > 0], selection->services);
	if (selection->side < 0 && fleet_question__sides(question) > 1) {
		bytes__text(to, " OR ");
		add_side(to, &question->sides[1], selection->services);
	}
	bytes__text(to, ")");
}

/* Rows of both tables, once each. */
static void add_union(struct bytes *to, const struct selection *selection)
{
	bytes__text(to, "(\n  SELECT ");
	selection->columns(to, selection->question, false);
	bytes__text(to, "\n  FROM rows FINAL WHERE ");
	add_conditions(to, selection);
	bytes__text(to, "\n    AND ");
	add_time(to, selection->question);
	bytes__text(to, " AND problem = ''");
	if (selection->days->nr) {
		bytes__printf(to, "\n    AND toString(toDate(start, 'UTC')) NOT IN (%s)",
			      selection->days->list);
		bytes__text(to, "\n  UNION ALL SELECT ");
		selection->columns(to, selection->question, true);
		bytes__text(to, "\n  FROM days WHERE ");
		add_conditions(to, selection);
		bytes__printf(to, "\n    AND toString(day) IN (%s)", selection->days->list);
	}
	bytes__text(to, "\n)");
}

static void cell_columns(struct bytes *to, const struct fleet_question *question, bool of_days)
{
	(void)of_days;
	add_columns(to, question);
}

static void add_groups(struct bytes *to, const struct fleet_question *question)
{
	for (size_t i = 0; i < question->nr_by; i++)
		bytes__printf(to, ", b%zu", i);
}

/* The states of a group sum to its life. */
static void add_times(struct bytes *to, const struct selection *selection)
{
	bytes__text(to, "SELECT host");
	add_groups(to, selection->question);
	bytes__text(to, ", sumIf(sum_ns, metric = ");
	fleet_sql__text(to, selection->question->metric);
	bytes__text(to, ") AS ns, sum(sum_ns) AS life FROM ");
	add_union(to, selection);
	bytes__text(to, " GROUP BY host");
	add_groups(to, selection->question);
	bytes__text(to, " ORDER BY host");
	add_groups(to, selection->question);
	bytes__text(to, " FORMAT JSONEachRow");
}

void fleet_sql__cells(struct bytes *to, const struct fleet_question *question, unsigned int side,
		      const struct fleet_days *days)
{
	const struct selection selection = { question, days, (int)side,
					     fleet_question__needs_services(question),
					     cell_columns };

	if (question->kind == FLEET_SHARE) {
		add_times(to, &selection);
		return;
	}
	bytes__text(to, "SELECT host, metric");
	add_groups(to, question);
	bytes__text(to, ", tupleElement(m, 1) AS slots, tupleElement(m, 2) AS counts,"
			" sum, max, tails AS tail FROM (\nSELECT host, metric");
	add_groups(to, question);
	bytes__text(to, ", sumMap(s, n) AS m, sum(sum_ns) AS sum, max(max_ns) AS max,"
			" sum(tail) AS tails FROM ");
	add_union(to, &selection);
	bytes__text(to, " GROUP BY host, metric");
	add_groups(to, question);
	bytes__text(to, "\n) ORDER BY host, metric");
	add_groups(to, question);
	bytes__text(to, " FORMAT JSONEachRow");
}

/* A day of the roll-up does not say when in it a host has data. */
static void host_columns(struct bytes *to, const struct fleet_question *question, bool of_days)
{
	(void)question;
	if (of_days)
		bytes__text(to, "host, method, recorded, lost, toUInt64(0) AS covered,"
				" toUInt64(-1) AS first, toUInt64(0) AS last");
	else
		bytes__text(to, "host, method, recorded, lost, interval_ns AS covered,"
				" toUInt64(toUnixTimestamp(start)) AS first,"
				" first + intDiv(interval_ns, 1000000000) AS last");
}

/* `at`: the states of an interval, or of a day, have it in common. They have no events. */
static void state_columns(struct bytes *to, const struct fleet_question *question, bool of_days)
{
	host_columns(to, question, of_days);
	bytes__text(to, of_days ? ", concat(toString(day), kernel, arrayStringConcat(labels))"
				: ", concat(run, toString(number))");
	bytes__text(to, " AS at");
}

void fleet_sql__hosts(struct bytes *to, const struct fleet_question *question,
		      const struct fleet_days *days)
{
	struct selection selection = { question, days, -1, false, host_columns };

	if (question->kind == FLEET_SHARE) {
		selection.columns = state_columns;
		bytes__text(to, "SELECT host, min(b) AS begin, max(e) AS end, sum(c) AS span,"
				" toUInt64(0) AS events, toUInt64(0) AS missing,"
				" toUInt64(0) AS unknown, groupUniqArray(method) AS methods FROM ("
				"\nSELECT host, method, at, min(first) AS b, max(last) AS e,"
				" max(covered) AS c FROM ");
		add_union(to, &selection);
		bytes__text(to, " GROUP BY host, method, at"
				"\n) GROUP BY host ORDER BY host FORMAT JSONEachRow");
		return;
	}
	bytes__text(to, "SELECT host, min(first) AS begin, max(last) AS end,"
			" sum(covered) AS span, sum(recorded) AS events,"
			" sum(ifNull(lost, toUInt64(0))) AS missing,"
			" countIf(isNull(lost)) AS unknown,"
			" groupUniqArray(method) AS methods FROM ");
	add_union(to, &selection);
	bytes__text(to, " GROUP BY host ORDER BY host FORMAT JSONEachRow");
}

void fleet_sql__refused(struct bytes *to, const struct fleet_question *question)
{
	bytes__text(
		to,
		"SELECT host, problem, uniqExact(run, number) AS rows,"
		" max(toUInt64(toUnixTimestamp(start)) + intDiv(interval_ns, 1000000000)) AS end"
		" FROM (\n  SELECT host, problem, run, number, start, interval_ns FROM rows FINAL"
		" WHERE probe = ");
	fleet_sql__text(to, question->probe);
	bytes__text(to, " AND ");
	add_from(to, question);
	bytes__printf(to,
		      " AND (problem != '' OR start >= toDateTime(%" PRIu64 ", 'UTC'))\n"
		      ") GROUP BY host, problem ORDER BY host, problem FORMAT JSONEachRow",
		      question->to_s + 60);
}
