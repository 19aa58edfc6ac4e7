/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's filters, put to the task that waits. A filter that is not set costs nothing: the
 * verifier knows the knobs and drops the code.
 */
#ifndef LATSCOPE_FILTER_BPF_H
#define LATSCOPE_FILTER_BPF_H

#include "kernel.bpf.h"
#include <latscope/event.h>

static __always_inline bool comm_matches(const volatile char *wanted, const char *comm)
{
	for (int i = 0; i < LAT_COMM_LEN; i++) {
		if (comm[i] != wanted[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

static __always_inline bool filter_by_task(const volatile struct lat_knobs *knobs)
{
	return knobs->tgid || knobs->tid || knobs->cgroup || knobs->comm[0];
}

/* Does the user want this task? */
static __always_inline bool task_wanted(const volatile struct lat_knobs *knobs,
					struct task_struct *task, bool raw)
{
	char comm[LAT_COMM_LEN] = {};

	if (knobs->tgid && (__u32)READ(raw, task, tgid) != knobs->tgid)
		return false;
	if (knobs->tid && (__u32)READ(raw, task, pid) != knobs->tid)
		return false;
	if (knobs->comm[0]) {
		BPF_CORE_READ_STR_INTO(&comm, task, comm);
		if (!comm_matches(knobs->comm, comm))
			return false;
	}
	if (knobs->cgroup && !task_in_cgroup(task, raw, knobs->cgroup))
		return false;
	return true;
}

#endif
