/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler's account of a parked task, or the end of the program. */
#ifndef LATSCOPE_TESTS_TRUTH_SCHED_H
#define LATSCOPE_TESTS_TRUTH_SCHED_H

#include <truth/sched.h>

#include "truth.h"

static inline struct truth_sched truth_parked(pid_t pid, pid_t tid, long where)
{
	struct truth_sched sched;
	char why[TRUTH_WHY];

	truth_check(truth_sched__parked(pid, tid, where, &sched, why), why);
	return sched;
}

#endif
