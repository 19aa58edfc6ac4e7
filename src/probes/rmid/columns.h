/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of module rmid: what each process had in each slot. */
#ifndef LATSCOPE_PROBES_RMID_COLUMNS_H
#define LATSCOPE_PROBES_RMID_COLUMNS_H

#include <core/table.h>

#include "counters.h"
#include "processes.h"
#include "slots.h"

/* Columns that every table has, by position. */
enum rows_column {
	ROWS_PROCESS,
	ROWS_PID,
	ROWS_COMM,
	ROWS_CPU_NS,
	ROWS_SWITCHES,
	ROWS_INCOMPLETE,
	ROWS_COLUMNS,
};

#define ROWS_LOST "(lost)" /* comm of the time that nobody is known to have had */

struct rows_layout {
	const unsigned int *counters; /* of counters_kinds[], in the order they are read */
	unsigned int nr_counters;
	bool rmids; /* RMIDs and what the caches tell by them */
};

int rows__new_table(struct table **table, const struct rows_layout *layout);

/* Adds the rows of a slot of a window that opened at start_ns. 0 or -ENOMEM. */
int rows__add(struct table *table, const struct rows_layout *layout, const struct slot *slot,
	      const struct processes *processes, uint64_t start_ns);

#endif
