/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates the tables of packaging/clickhouse, rolls them up, deletes what is too old. */
#ifndef LATSCOPE_FLEET_TABLES_H
#define LATSCOPE_FLEET_TABLES_H

#include "server.h"

struct fleet_tables {
	const char *cluster; /* NULL: one server */
	uint64_t keep_rows, keep; /* days */
};

/*
 * Creates the tables; what exists already stays. The server is connected. -EXDEV: it has the tables
 * of a single server instead of a cluster's, or the other way round; see also fleet_server.
 */
int fleet_tables__init(struct fleet_server *server, const struct fleet_tables *tables);

struct fleet_rollup {
	size_t hours, days; /* that were rolled up */
	/* Called for what the user should know. */
	void (*warn)(const char *what, const char *why, const char *todo);
};

/*
 * Sums up the complete hours and days that have new rows, and deletes partitions that are too old.
 * The server is connected, and has our schema.
 */
int fleet_tables__rollup(struct fleet_server *server, struct fleet_rollup *rollup);

#endif
