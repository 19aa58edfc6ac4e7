// SPDX-License-Identifier: BSD-2-Clause
#include "kernel_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf_probe.h"

/*
 * The probe's program and the kernel's own counting of the same event are less than 1 us apart, but
 * at either end of the window a CPU may be between them.
 */
#define EVENTS_PER_CPU 4

/* docs/method.md states them. */
#define EVENTS_SHARE 0.001
#define TIME_SHARE 0.01

void verify__read(struct verify *verify, const struct bpf_probe *probe, enum verify_moment moment)
{
	struct account *account = &verify->accounts[moment];
	int err;

	if (verify->why[0])
		return;
	if (moment == VERIFY_BEFORE_OPEN)
		verify->kind = probe->ops->account;
	err = account__read(account, verify->kind, "", verify->why);
	if (err == -ENOENT && verify->kind == ACCOUNT_WAITS) {
		verify->kind = ACCOUNT_SWITCHES;
		account__read(account, verify->kind, "", verify->why);
	}
}

/* The kernel's counters only grow; a smaller value is from another disk. */
static bool same_parts(const struct account accounts[VERIFY_MOMENTS])
{
	for (int i = 1; i < VERIFY_MOMENTS; i++) {
		if (accounts[i].parts != accounts[0].parts ||
		    accounts[i].events < accounts[i - 1].events ||
		    accounts[i].ns < accounts[i - 1].ns)
			return false;
	}
	return true;
}

static uint64_t at_least(uint64_t value, uint64_t less)
{
	return value > less ? value - less : 0;
}

static void take_kernels(const struct verify *verify, struct run_check *check)
{
	const struct account *at = verify->accounts;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	check->events.kernel_low = at[VERIFY_BEFORE_CLOSE].events - at[VERIFY_AFTER_OPEN].events;
	check->events.kernel_high = at[VERIFY_AFTER_CLOSE].events - at[VERIFY_BEFORE_OPEN].events;
	check->events.tolerance +=
		(uint64_t)(EVENTS_SHARE * check->events.kernel_high) + EVENTS_PER_CPU * cpus;
	check->time.kernel_low = at_least(at[VERIFY_BEFORE_CLOSE].ns - at[VERIFY_AFTER_OPEN].ns,
					  at[VERIFY_AFTER_OPEN].step_ns);
	check->time.kernel_high = at[VERIFY_AFTER_CLOSE].ns - at[VERIFY_BEFORE_OPEN].ns +
				  at[VERIFY_AFTER_CLOSE].step_ns;
	check->time.tolerance += (uint64_t)(TIME_SHARE * check->time.kernel_high);
}

void verify__conclude(const struct verify *verify, const struct bpf_probe *probe,
		      struct run_probe *entry)
{
	struct run_check *check = &entry->check;

	memset(check, 0, sizeof(*check));
	snprintf(check->source, sizeof(check->source), "%s", account__source(verify->kind));
	if (verify->why[0]) {
		snprintf(check->why, sizeof(check->why), "%s", verify->why);
		return;
	}
	if (!same_parts(verify->accounts)) {
		snprintf(check->why, sizeof(check->why), "%s came or went meanwhile",
			 verify->kind == ACCOUNT_WAITS ? "CPUs" : "disks");
		return;
	}
	probe->ops->expect(probe, entry, verify->kind, check);
	take_kernels(verify, check);
}
