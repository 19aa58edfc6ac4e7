/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the exporter shows. A value that is not known is absent, never 0. Times are in seconds.
 * latscope-serve(1) describes each family.
 */
#ifndef LATSCOPE_SERVE_METRICS_H
#define LATSCOPE_SERVE_METRICS_H

#include <core/run.h>
#include <net/sender.h>

#include "clickhouse.h"
#include "exposition.h"
#include "keeper.h"
#include "recorder.h"
#include "series.h"
#include "times.h"

struct metrics {
	const struct run *run; /* totals since the window opened */
	const struct series *series;
	const struct times *times;
	unsigned int max_keys;
	uint64_t requests; /* of the exporter itself */
	const struct recorder *recorder; /* NULL: none */
	const struct keeper *keeper; /* NULL: none */
	const struct sender_counts *otlp; /* NULL: nothing is sent */
	const struct clickhouse_counts *clickhouse; /* NULL: nothing is stored */
};

void metrics__write(const struct metrics *metrics, struct exposition *to);

#endif
