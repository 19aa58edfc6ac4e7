/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of rmid, summed up by process: all rows or keys of a process, whatever its name. */
#ifndef LATSCOPE_PROBES_RMID_VIEW_TOTALS_H
#define LATSCOPE_PROBES_RMID_VIEW_TOTALS_H

#include <core/run.h>

struct rmid_total {
	int64_t process; /* 0: time without a process; `comm` says which */
	struct table_value pid; /* of its newest row */
	const char *comm; /* the same; valid until the table changes */
	uint64_t rows;
	double sum[TABLE_COLUMNS];
	uint64_t known[TABLE_COLUMNS]; /* rows that have a value of the column */
};

struct rmid_totals {
	struct rmid_total *list; /* by CPU time, the most first; then those without a process */
	size_t nr;
	bool known[TABLE_COLUMNS]; /* at least one row has a value of the column */
};

/*
 * `whole`: of all rows that were folded so far; otherwise of the rows of the current interval. 0 or
 * -ENOMEM; the caller must call rmid_totals__clear() in either case.
 */
int rmid_totals__of(struct rmid_totals *totals, const struct table *table, bool whole);
void rmid_totals__clear(struct rmid_totals *totals);

/* Is it rmid, with the expected columns? A file may contain anything. */
bool rmid_totals__know(const struct run_probe *probe);

#endif
