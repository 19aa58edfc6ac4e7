/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A load for a server of ClickHouse: the rows of many hosts that measure nothing. The same
 * configuration makes the same rows, so a second run sends them twice.
 */
#ifndef LATSCOPE_FLEET_LOAD_H
#define LATSCOPE_FLEET_LOAD_H

#include <stdint.h>

#include <net/clickhouse_server.h>

#define FLEET_LOAD_HOSTS 10000
#define FLEET_LOAD_SERIES 60
#define FLEET_LOAD_SLOTS 40
#define FLEET_LOAD_TOGETHER 100

struct fleet_load_config {
	const struct clickhouse_address *address;
	unsigned int tasks; /* connections, each of a process */
	uint64_t hosts, series; /* rows of a host for each minute */
	uint64_t slots; /* of a row that are not empty, about */
	uint64_t together; /* hosts whose rows are in one request */
	uint64_t minutes, start_s; /* what the rows cover; Unix time */
	uint64_t seed;
};

struct fleet_load_result {
	uint64_t rows, events, requests, bytes; /* that were sent */
	uint64_t ns; /* that it took */
	char why[POST_TEXT]; /* of the first request that failed */
};

/* 0, or -errno and `why`; -ECANCELED: a process was killed. */
int fleet_load__run(const struct fleet_load_config *config, struct fleet_load_result *result);

#endif
