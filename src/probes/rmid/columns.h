/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of probe rmid: one per process and slot. */
#ifndef LATSCOPE_PROBES_RMID_COLUMNS_H
#define LATSCOPE_PROBES_RMID_COLUMNS_H

#include <core/table.h>

#include "counters.h"
#include "processes.h"
#include "slots.h"

/* Positions of the columns that every table has. */
enum rows_column {
	ROWS_PROCESS,
	ROWS_PID,
	ROWS_COMM,
	ROWS_CPU_NS,
	ROWS_SWITCHES,
	ROWS_INCOMPLETE,
	ROWS_COLUMNS,
};

#define ROWS_LOST "(lost)" /* comm of the time without a known process */

struct rows_layout {
	const unsigned int *counters; /* indices of counters_kinds[], in read order */
	unsigned int nr_counters;
	bool rmids;
	bool caches; /* readings of the caches' monitoring counters */
};

int rows__new_table(struct table **table, const struct rows_layout *layout);

/* Adds the rows of a slot of a window that opened at start_ns. 0 or -ENOMEM. */
int rows__add(struct table *table, const struct rows_layout *layout, const struct slot *slot,
	      const struct processes *processes, uint64_t start_ns);

#endif
