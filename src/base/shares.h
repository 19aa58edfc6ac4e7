/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each process waited for, of all modules, beside how long it lived: a run that was split by
 * process.
 */
#ifndef LATSCOPE_BASE_SHARES_H
#define LATSCOPE_BASE_SHARES_H

#include "run.h"

struct shares_column {
	const struct run_module *module;
	unsigned int
		metric; /* "total" if the module has it: the one that the others are parts of */
};

struct shares_row {
	uint64_t id; /* RUN_OTHER_ID: those that found no row left */
	const char *name;
	const struct run_life *life; /* NULL: not known */
	uint64_t wait_ns[RUN_MODULES]; /* by column */
	uint64_t sum_ns;
};

struct shares {
	struct shares_column columns[RUN_MODULES];
	unsigned int nr_columns; /* 0: nothing was split by process */
	struct shares_row *rows; /* the one that waited longest first, that of the others last */
	size_t nr;
};

/* The run must stay. shares__clear() is owed. 0 or -ENOMEM. */
int shares__of(struct shares *shares, const struct run *run);
void shares__clear(struct shares *shares);

/*
 * Of the time that the process lived within the window: 1 is one thread that waits all the time, or
 * one request that is always in flight. NAN: it is not known how long it lived.
 */
double shares__wait(const struct shares_row *row, unsigned int column);

/* Threads that it had in the mean; NAN as above. */
double shares__threads(const struct shares_row *row);

/* Why it is not known of some or all how long they lived; NULL: it is known of all. */
const char *shares__unknown(const struct shares *shares, const struct run *run);

#endif
