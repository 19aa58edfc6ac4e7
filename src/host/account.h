/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own accounts of what the probes measure, and the comparison with the probes' sums.
 * All accounts are for the whole machine since boot.
 */
#ifndef LATSCOPE_HOST_ACCOUNT_H
#define LATSCOPE_HOST_ACCOUNT_H

#include <core/run.h>

enum account_kind {
	ACCOUNT_FAULTS, /* /proc/vmstat: pgfault; no time */
	ACCOUNT_WAITS, /* /proc/schedstat: pcount and run_delay of all CPUs */
	ACCOUNT_SWITCHES, /* /proc/stat: ctxt, with switches to idle tasks; no time */
	ACCOUNT_SOFTIRQS, /* /proc/stat: softirq; no time */
	ACCOUNT_REQUESTS, /* /sys/block/DISK/stat of all request-based disks */
};

struct account {
	uint64_t events;
	uint64_t ns;
	uint64_t step_ns; /* rounding of the total in ns, downwards */
	uint64_t parts; /* identifies the set of CPUs or disks of the sum */
};

/* "/proc/schedstat", for messages. */
const char *account__source(enum account_kind kind);

/*
 * `root` is a prefix of /proc and /sys, "" for this machine. 0, or -errno and the reason in `why`.
 */
int account__read(struct account *account, enum account_kind kind, const char *root,
		  char why[RUN_TEXT]);

/* The probe's sum minus the kernel's, beyond the uncertainty of both; 0: within it. */
int64_t account__off(const struct run_checked *checked);

/* The same as a share of the kernel's; the kernel's 0 counts as 1. */
double account__off_share(const struct run_checked *checked);

/* Is it off by more than the tolerance? */
bool account__disagrees(const struct run_checked *checked);

#endif
