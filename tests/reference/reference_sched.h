/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler's account of a parked task, or the end of the program. */
#ifndef LATSCOPE_TESTS_REFERENCE_SCHED_H
#define LATSCOPE_TESTS_REFERENCE_SCHED_H

#include <selftest/reference/sched.h>

#include "reference.h"

static inline struct reference_sched reference_parked(pid_t pid, pid_t tid, long where)
{
	struct reference_sched sched;
	char why[REFERENCE_WHY];

	reference_check(reference_sched__parked(pid, tid, where, &sched, why), why);
	return sched;
}

#endif
