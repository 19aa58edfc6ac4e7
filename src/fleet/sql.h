/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQL of a question, for the tables of packaging/clickhouse. It is what every ClickHouse from
 * 18.16 on understands. Every text of the user is escaped here.
 */
#ifndef LATSCOPE_FLEET_SQL_H
#define LATSCOPE_FLEET_SQL_H

#include <net/bytes.h>

#include "question.h"

/* Days (UTC) that are taken from the roll-up: a list as SQL, "'2026-11-20','2026-11-21'" or "". */
struct fleet_days {
	char *list;
	size_t nr;
};

/* A text as a literal: only visible ASCII stays as it is. */
void fleet_sql__text(struct bytes *to, const char *text);

/* Which days the roll-up has that lie completely in the time of the question. A day in a row. */
void fleet_sql__days(struct bytes *to, const struct fleet_question *question);

/*
 * The histograms of one side: host, metric, b0, b1 ... (the names to group by), slots, counts, sum,
 * max and tail; as JSONEachRow. Of FLEET_SHARE: host, b0 ..., ns (in the state) and life.
 */
void fleet_sql__cells(struct bytes *to, const struct fleet_question *question, unsigned int side,
		      const struct fleet_days *days);

/*
 * What is said about the hosts of both sides, in all their time: host, begin, end, span (ns that
 * rows cover), events, missing, unknown (rows that do not say how many were lost), methods.
 */
void fleet_sql__hosts(struct bytes *to, const struct fleet_question *question,
		      const struct fleet_days *days);

/*
 * Intervals that are left out: host, problem (empty: they lie in the future), their number as rows,
 * end.
 */
void fleet_sql__refused(struct bytes *to, const struct fleet_question *question);

#endif
