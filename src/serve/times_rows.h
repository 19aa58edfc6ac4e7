/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of threads as rows of packaging/clickhouse/tables.sql: one for each state of the host, and
 * of each service. The metric is the state, sum_ns the time; there are no events.
 */
#ifndef LATSCOPE_SERVE_TIMES_ROWS_H
#define LATSCOPE_SERVE_TIMES_ROWS_H

#include <net/clickhouse_rows.h>

#include "times.h"

/* Adds the rows, and to their number; the times are 0 then. 0 or -ENOMEM. */
int times_rows__put(struct times *times, const struct run *run,
		    const struct clickhouse_batch *batch, struct bytes *to, uint32_t *rows);

#endif
