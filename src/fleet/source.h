/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the data of a question come from. */
#ifndef LATSCOPE_FLEET_SOURCE_H
#define LATSCOPE_FLEET_SOURCE_H

#include <net/clickhouse_server.h>

#include "data.h"

/* ---- the tables of serve --clickhouse: see packaging/clickhouse ---- */

/*
 * Fills in data that fleet_data__begin() made. 0; -ENODATA: no rows; errors of
 * clickhouse_server__ask() and fleet_data__add(), with the reason in data->why; -EBADMSG: the
 * answer is not what the statement asks for, or is cut off.
 */
int source_clickhouse__read(struct fleet_data *data, struct post *server);

/*
 * The statements that it runs, with a ';' after each. It asks the server which days it has; NULL:
 * none.
 */
int source_clickhouse__sql(struct fleet_data *data, struct post *server, struct bytes *sql);

/*
 * ---- the recordings below a directory. The host of one is its label `host`, or the name of the
 * machine in it, or else the directory between: DIR/HOST/RECORDING ----
 */

/*
 * Fills in data that fleet_data__begin() made. A recording that cannot be read is left out, and a
 * note says so. `now_s`: what begins later lies in the future. 0; -ENOENT: there is no recording;
 * -ENODATA: none with this probe in this time; errors of fleet_data__add() and of opendir().
 */
int source_directory__read(struct fleet_data *data, const char *dir, uint64_t now_s);

#endif
