/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores what was measured in ClickHouse: a row per interval, probe, metric and key, see
 * packaging/clickhouse/tables.sql. The rows of an interval are one batch, which is in the spool
 * until the server has taken it, also beyond the end of the process. A batch may be sent twice; the
 * table then keeps one of each row. Only the sender's thread waits for the server.
 *
 * A batch that fails three times is put off: the others are sent first. One that is put off four
 * times, each time after others were stored, is dropped. If nothing is stored, nothing is dropped.
 */
#ifndef LATSCOPE_SERVE_CLICKHOUSE_H
#define LATSCOPE_SERVE_CLICKHOUSE_H

#include <core/run.h>
#include <net/clickhouse_server.h>
#include <net/sender.h>

#include "series.h"
#include "spool.h"

#define CLICKHOUSE_EVERY_NS 60000000000ULL
#define CLICKHOUSE_LEAST_NS 1000000000ULL
#define CLICKHOUSE_MOST_NS 3600000000000ULL
#define CLICKHOUSE_SPOOL (64ULL << 20)
#define CLICKHOUSE_SPOOL_NAME "clickhouse.spool"

struct clickhouse;

struct clickhouse_config {
	const char *url, *login_file;
	const char *spool; /* path of the file */
	uint64_t spool_most; /* bytes */
	uint64_t every_ns;
	unsigned int max_series; /* services of a metric that have rows of their own */
	unsigned int nr_labels;
	struct run_label labels[RUN_LABELS];
	/* Called when storing begins to fail, with the reason, and when it works again (NULL). */
	void (*changed)(const char *url, const char *why);
	/* Called when rows are dropped because the server does not take them. */
	void (*dropped)(const char *url, uint64_t rows, const char *why);
};

struct clickhouse_counts {
	uint64_t made, stored, refused, lost; /* rows; the rest waits */
	struct spool_counts spool;
	struct sender_counts sender;
	bool skew_known;
	double skew_s; /* our clock minus the server's */
};

/*
 * To be called before privileges are dropped, with an address that is valid. 0 or -errno of
 * spool__new() or post__new().
 */
int clickhouse__new(struct clickhouse **clickhouse, const struct clickhouse_config *config,
		    const struct clickhouse_address *address);
void clickhouse__free(struct clickhouse *clickhouse); /* NULL is allowed */

/*
 * Adds an interval. `whole`: the keys were read, so a batch can end here. `named`: its paths tell
 * the names of services. 0 or -ENOMEM.
 */
int clickhouse__add(struct clickhouse *clickhouse, const struct run *run,
		    const struct run_interval *interval, bool whole, const struct series *named);

/* Call often: gives the sender what waits. */
void clickhouse__work(struct clickhouse *clickhouse);

/* The last batch; sends for a moment. What is not taken stays in the spool. */
void clickhouse__end(struct clickhouse *clickhouse, const struct run *run,
		     const struct series *named);

struct clickhouse_counts clickhouse__counts(const struct clickhouse *clickhouse);

#endif
