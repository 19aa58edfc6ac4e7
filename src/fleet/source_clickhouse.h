/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers a question from the tables of serve --clickhouse: see packaging/clickhouse. */
#ifndef LATSCOPE_FLEET_SOURCE_CLICKHOUSE_H
#define LATSCOPE_FLEET_SOURCE_CLICKHOUSE_H

#include <net/clickhouse_server.h>

#include "data.h"

/*
 * Fills in data that fleet_data__begin() made. 0; -ENODATA: no rows; errors of
 * clickhouse_server__ask() and fleet_data__add(), with the reason in data->why; -EBADMSG: the
 * answer is not what the statement asks for, or is cut off.
 */
int source_clickhouse__read(struct fleet_data *data, struct clickhouse_server *server);

/*
 * The statements that it runs, with a ';' after each. It asks the server which days it has; NULL:
 * none.
 */
int source_clickhouse__sql(struct fleet_data *data, struct clickhouse_server *server,
			   struct bytes *sql);

#endif
