/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each process waited for, of all modules, beside how long it lived: a run that was split by
 * process.
 */
#ifndef LATSCOPE_CORE_PROCESS_SHARES_H
#define LATSCOPE_CORE_PROCESS_SHARES_H

#include "run.h"

struct process_share_column {
	const struct run_probe *probe;
	unsigned int
		metric; /* "total" if the module has it: the one that the others are parts of */
};

struct process_share_row {
	uint64_t id; /* RUN_OTHER_ID: those that found no row left */
	const char *name;
	const struct run_life *life; /* NULL: not known */
	uint64_t wait_ns[RUN_PROBES]; /* by column */
	uint64_t sum_ns;
};

struct process_shares {
	struct process_share_column columns[RUN_PROBES];
	unsigned int nr_columns; /* 0: nothing was split by process */
	struct process_share_row
		*rows; /* the one that waited longest first, that of the others last */
	size_t nr;
};

/* The run must stay. shares__clear() is owed. 0 or -ENOMEM. */
int process_shares__of(struct process_shares *shares, const struct run *run);
void process_shares__clear(struct process_shares *shares);

/*
 * Of the time that the process lived within the window: 1 is one thread that waits all the time, or
 * one request that is always in flight. NAN: it is not known how long it lived.
 */
double process_shares__wait(const struct process_share_row *row, unsigned int column);

/* Threads that it had in the mean; NAN as above. */
double process_shares__threads(const struct process_share_row *row);

/* Why it is not known of some or all how long they lived; NULL: it is known of all. */
const char *process_shares__unknown(const struct process_shares *shares, const struct run *run);

#endif
