/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pressure of the whole machine or of one cgroup: stalls for CPU, memory and I/O (PSI), reclaim,
 * swap and limits, as changes of the kernel's counters by interval. docs/format.md lists the
 * columns.
 */
#ifndef LATSCOPE_CORE_PRESSURE_H
#define LATSCOPE_CORE_PRESSURE_H

#include "run.h"

#define PRESSURE_NAME "pressure" /* of the table in a recording */

enum pressure_column {
	PRESSURE_CPU_SOME, /* stalls, in ns */
	PRESSURE_MEMORY_SOME,
	PRESSURE_IO_SOME,
	PRESSURE_MEMORY_FULL,
	PRESSURE_IO_FULL,
	PRESSURE_THROTTLED,
	PRESSURE_MAJOR_FAULTS, /* from here on: counts */
	PRESSURE_REFAULTS,
	PRESSURE_SCANNED,
	PRESSURE_RECLAIMED,
	PRESSURE_SCANNED_KSWAPD,
	PRESSURE_SCANNED_DIRECT,
	PRESSURE_DIRECT_STALLS,
	PRESSURE_SWAPPED_IN,
	PRESSURE_SWAPPED_OUT,
	PRESSURE_OOM_KILLS,
	PRESSURE_FIRST_COLUMNS, /* older recordings have only those before */
	PRESSURE_MEMORY_HIGH = PRESSURE_FIRST_COLUMNS, /* only of a cgroup */
	PRESSURE_MEMORY_MAX,
	PRESSURE_COLUMNS,
};

extern const struct table_column pressure_columns[PRESSURE_COLUMNS];

/* What a column gained in all folded rows; `table` may be NULL. False: it is unknown. */
bool pressure__gained(const struct table *table, enum pressure_column column, uint64_t *gained);

/*
 * The same per ns of the readings, which end a little later than the window: of a stall its share
 * of the time.
 */
bool pressure__rate(const struct table *table, enum pressure_column column, double *rate);

#endif
