/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of packaging/clickhouse/tables.sql, as text. */
#ifndef LATSCOPE_NET_CLICKHOUSE_ROWS_H
#define LATSCOPE_NET_CLICKHOUSE_ROWS_H

#include <core/run.h>

#include "bytes.h"

/* The columns of a row, and its form. */
#define CLICKHOUSE_INSERT                                                                 \
	"INSERT INTO rows (start,host,run,number,interval_ns,probe,metric,split,key,"     \
	"kernel,method,labels,hist.slot,hist.n,recorded,sum_ns,max_ns,tail,tail_ns,seen," \
	"filtered,missed_start,unmatched,map_full,negative,excluded,continued,lost,"      \
	"lost_ns) FORMAT TabSeparated"

/* What the rows of a batch share. Names are any bytes. */
struct clickhouse_batch {
	uint64_t start_s; /* Unix time */
	uint64_t interval_ns;
	uint32_t number;
	const char *host, *run, *kernel;
	unsigned int nr_labels;
	const struct run_label *labels; /* in order of their keys */
};

struct clickhouse_row {
	const char *probe, *metric, *method;
	const char *service; /* NULL: the whole host */
	uint64_t tail_ns;
	const struct sparse *hist;
	const __u64 *counts; /* of lat_cell; NULL: unknown */
	uint64_t lost; /* known if counts are */
	bool lost_ns_known;
	uint64_t lost_ns;
};

void clickhouse_rows__add(struct bytes *to, const struct clickhouse_batch *batch,
			  const struct clickhouse_row *row);

/*
 * The name of a cgroup that is the same on every host: its unit, or the name or kind of its
 * container. `path` NULL: `name` is all that is known.
 */
void clickhouse_rows__service(char service[RUN_NAME * 2], const char *name, const char *path);

#endif
