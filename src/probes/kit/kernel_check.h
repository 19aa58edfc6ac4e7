/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares a probe's sums with the kernel's own account of the window. The account is read before
 * and after each end of the window, so the kernel's sum is known as a range, without assumptions
 * about what happens between reading and arming.
 */
#ifndef LATSCOPE_PROBES_KIT_KERNEL_CHECK_H
#define LATSCOPE_PROBES_KIT_KERNEL_CHECK_H

#include <host/account.h>

struct bpf_probe;

enum verify_moment {
	VERIFY_BEFORE_OPEN,
	VERIFY_AFTER_OPEN,
	VERIFY_BEFORE_CLOSE,
	VERIFY_AFTER_CLOSE,
	VERIFY_MOMENTS,
};

struct verify {
	struct account accounts[VERIFY_MOMENTS];
	enum account_kind kind; /* the one that is there */
	char why[RUN_TEXT]; /* not empty: the account cannot be read */
};

void verify__read(struct verify *verify, const struct bpf_probe *probe, enum verify_moment moment);

/* Call when the totals are complete: fills in probe->check. */
void verify__conclude(const struct verify *verify, const struct bpf_probe *probe,
		      struct run_probe *entry);

#endif
