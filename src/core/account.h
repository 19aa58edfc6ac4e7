/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own accounts of what the probes measure, and our sums held against them. All are of
 * the whole machine, counted since boot.
 */
#ifndef LATSCOPE_CORE_ACCOUNT_H
#define LATSCOPE_CORE_ACCOUNT_H

#include "run.h"

enum account_kind {
	ACCOUNT_FAULTS, /* /proc/vmstat: pgfault; no time */
	ACCOUNT_WAITS, /* /proc/schedstat: pcount and run_delay of all CPUs */
	ACCOUNT_SWITCHES, /* /proc/stat: ctxt, those to the idle tasks too; no time */
	ACCOUNT_SOFTIRQS, /* /proc/stat: softirq; no time */
	ACCOUNT_REQUESTS, /* /sys/block/DISK/stat of all disks that have requests of their own */
};

struct account {
	uint64_t events;
	uint64_t ns;
	uint64_t step_ns; /* ns is cut to this much, in all */
	uint64_t parts; /* tells a sum over these CPUs or disks from one over others */
};

/* "/proc/schedstat": what it is called in messages. */
const char *account__source(enum account_kind kind);

/*
 * `root` stands before /proc and /sys, "" for this machine's own. 0, or -errno and `why` says what
 * is wrong with this account.
 */
int account__read(struct account *account, enum account_kind kind, const char *root,
		  char why[RUN_TEXT]);

/* Ours minus the kernel's, as far as the uncertainty of both does not explain it; 0: it does. */
int64_t account__off(const struct run_checked *checked);

/* The same as a share of the kernel's; the kernel's 0 counts as 1. */
double account__off_share(const struct run_checked *checked);

/* Is it off by more than the tolerance? */
bool account__disagrees(const struct run_checked *checked);

#endif
