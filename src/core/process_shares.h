/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits of each process in all probes, as shares of its lifetime, for a run that was split by
 * process.
 */
#ifndef LATSCOPE_CORE_PROCESS_SHARES_H
#define LATSCOPE_CORE_PROCESS_SHARES_H

#include "run.h"

struct process_share_column {
	const struct run_probe *probe;
	unsigned int metric; /* "total" if the probe has it: the others are parts of it */
};

struct process_share_row {
	uint64_t id; /* RUN_OTHER_ID: all processes without a row of their own */
	const char *name;
	const struct run_life *life; /* NULL: unknown */
	uint64_t wait_ns[RUN_PROBES]; /* by column */
	uint64_t sum_ns;
};

struct process_shares {
	struct process_share_column columns[RUN_PROBES];
	unsigned int nr_columns; /* 0: no probe was split by process */
	struct process_share_row *rows; /* longest wait first, (other) last */
	size_t nr;
};

/* Refers to the run. The caller must always call process_shares__clear(). 0 or -ENOMEM. */
int process_shares__of(struct process_shares *shares, const struct run *run);
void process_shares__clear(struct process_shares *shares);

/*
 * Share of the process's lifetime within the window: 1 is one thread that always waits, or one
 * request always in flight. NAN: its lifetime is unknown.
 */
double process_shares__wait(const struct process_share_row *row, unsigned int column);

/* Mean number of threads; NAN as above. */
double process_shares__threads(const struct process_share_row *row);

/* Why the lifetime of some or all is unknown; NULL: all are known. */
const char *process_shares__unknown(const struct process_shares *shares, const struct run *run);

#endif
