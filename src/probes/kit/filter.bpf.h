/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's filters, applied to the task that waits. A filter that is not set costs nothing: the
 * verifier knows the config and removes the code.
 */
#ifndef LATSCOPE_PROBES_KIT_FILTER_BPF_H
#define LATSCOPE_PROBES_KIT_FILTER_BPF_H

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

static __always_inline bool filter_by_task(const volatile struct lat_config *config)
{
	return config->tgid || config->tid || config->cgroup || config->comm[0];
}

/* Do the filters accept this task, except that by cgroup? */
static __always_inline bool task_matches(const volatile struct lat_config *config,
					 struct task_struct *task)
{
	char comm[LAT_COMM_LEN] = {};

	if (config->tgid && (__u32)task->tgid != config->tgid)
		return false;
	if (config->tid && (__u32)task->pid != config->tid)
		return false;
	if (config->comm[0]) {
		BPF_CORE_READ_STR_INTO(&comm, task, comm);
		if (!comm_matches(config->comm, comm))
			return false;
	}
	return true;
}

/* Do the filters accept this task? */
static __always_inline bool task_wanted(const volatile struct lat_config *config,
					struct task_struct *task)
{
	return task_matches(config, task) &&
	       (!config->cgroup ||
		cgroup_is_in(untrusted(task)->cgroups->dfl_cgrp, config->cgroup));
}

/* The same for the current task, which is not read if no filter needs it. */
static __always_inline bool current_wanted(const volatile struct lat_config *config)
{
	return !filter_by_task(config) || task_wanted(config, bpf_get_current_task_btf());
}

/* Do a filter or a split need the CPU? */
static __always_inline bool needs_cpu(const volatile struct lat_config *config)
{
	return config->cpus || config->by & 1U << LAT_BY_CPU;
}

/* Does the filter accept this CPU? */
static __always_inline bool cpu_wanted(const volatile struct lat_config *config, __u32 cpu)
{
	if (!config->cpus)
		return true;
	return config->cpu_mask[cpu / 64 & (LAT_CPUS / 64 - 1)] >> cpu % 64 & 1;
}

#endif
