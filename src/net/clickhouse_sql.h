/* SPDX-License-Identifier: BSD-2-Clause */
/* The statements of packaging/clickhouse. The files are part of the program. */
#ifndef LATSCOPE_NET_CLICKHOUSE_SQL_H
#define LATSCOPE_NET_CLICKHOUSE_SQL_H

#include "bytes.h"

/* Each a file, as text with a '\0' at its end. */
extern const char clickhouse_tables[], clickhouse_problem[], clickhouse_distributed[];
extern const char clickhouse_retention[], clickhouse_ttl[], clickhouse_hours[], clickhouse_days[],
	clickhouse_steps[];

struct clickhouse_word {
	const char *name; /* "rows_days" for {rows_days}; NULL after the last */
	char value[320];
};

/* The statements of a step of steps.sql: what follows the line `-- [NAME]`. */
const char *clickhouse_sql__step(const char *name);

/*
 * Appends the next statement of the file or step with the words filled in, and a '\0', to *to,
 * which it empties first. Advances *at. False: there is no further one, or no memory (to->failed).
 */
bool clickhouse_sql__next(const char **at, const struct clickhouse_word *words, struct bytes *to);

#endif
