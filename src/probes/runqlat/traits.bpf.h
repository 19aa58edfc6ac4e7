/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sets a task apart from most others, with --why: its policy, its nice value, the weight of
 * its cgroup; and the workqueue that a kworker works for. Included by turns.bpf.h alone.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_TRAITS_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_TRAITS_BPF_H

#include <probes/kit/why.bpf.h>

#include "types.h"

/* User space sizes it to WHY_TRAITS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_traits);
} why_traits SEC(".maps");

#define NICE_LEAST 100 /* static_prio of nice -20 */
#define WEIGHT_SHIFT 10 /* the scheduler's weights are finer by this on 64 bits */

/* Without --why there is no map; as place_of(). */
static __always_inline struct why_traits *traits_at(__u32 number)
{
	if (!config.why)
		return NULL;
	return bpf_map_lookup_elem(&why_traits, &number);
}

/* ---- policy, nice value and weight ---- */

/* The first two are in what the scheduler reads at each switch. */
static __always_inline __u64 scheduling_of(struct task_struct *task)
{
	__u64 weight = task->se.cfs_rq->tg->shares >> WEIGHT_SHIFT;

	return WHY_SCHEDULING(task->policy, task->rt_priority, task->static_prio - NICE_LEAST,
			      weight);
}

#define USUAL WHY_SCHEDULING(0, 0, 20, WHY_WEIGHT_DEFAULT)

/* Is its task group that of a cgroup of version 2? */
static __always_inline bool has_cgroup_weight(struct task_struct *task)
{
	return BPF_CORE_READ(task, se.cfs_rq, tg, css.cgroup, root) ==
	       BPF_CORE_READ(task, cgroups, dfl_cgrp, root);
}

/* ---- numbers ---- */

static __always_inline bool same_traits(const struct why_traits *a, const struct why_traits *b)
{
	const __u64 *left = (const void *)a->workqueue, *right = (const void *)b->workqueue;

	return a->scheduling == b->scheduling && left[0] == right[0] && left[1] == right[1] &&
	       left[2] == right[2] && left[3] == right[3];
}

static __always_inline bool claim_traits(struct why_traits *traits, const struct why_traits *wanted)
{
	if (__sync_val_compare_and_swap(&traits->state, WHY_FREE, WHY_CLAIMED) != WHY_FREE)
		return false;
	traits->scheduling = wanted->scheduling;
	__builtin_memcpy(traits->workqueue, wanted->workqueue, sizeof(traits->workqueue));
	store_ordered(&traits->state, WHY_READY);
	return true;
}

/* Two CPUs may give the same traits two numbers. 0: there is no place for them. */
static __always_inline __u32 number_of(const struct why_traits *wanted)
{
	const __u64 *name = (const void *)wanted->workqueue;
	__u64 hash = (wanted->scheduling ^ name[0]) * 0x9e3779b97f4a7c15ULL;
	struct why_traits *traits;
	__u32 first, number;

	hash = (hash ^ name[1] ^ name[2] ^ name[3]) * 0xbf58476d1ce4e5b9ULL;
	first = hash >> (64 - WHY_TRAITS_BITS);
#pragma clang loop unroll(disable)
	for (__u32 n = 0; n < WHY_TRAITS_PROBES; n++) {
		number = (first + n) & (WHY_TRAITS - 1);
		traits = number ? traits_at(number) : NULL;
		if (!traits)
			continue;
		if (traits->state == WHY_READY ? same_traits(traits, wanted)
					       : claim_traits(traits, wanted))
			return number;
	}
	return 0;
}

/* ---- workqueues ---- */

/* What a kworker works for at the moment, as the kernel's struct pool_workqueue; 0: nothing. */
static __always_inline __u64 pwq_of(struct task_struct *task)
{
	struct kthread *kthread;
	struct worker *worker;

	if (!(BPF_CORE_READ(task, flags) & PF_WQ_WORKER))
		return 0;
	kthread = kthread_of(task);
	worker = BPF_CORE_READ(kthread, data);
	return (__u64)BPF_CORE_READ(worker, current_pwq);
}

#define MARKS 16 /* in one turn; of more, the first ones are not known */

/* The kworker began to work for another workqueue. */
struct work_mark {
	__u64 at_ns; /* by the scheduler's clock */
	__u64 pwq;
};

/* Of one CPU. The program at the tracepoint adds marks, and sched_switch takes them. */
struct works {
	__u64 pwq; /* what the kworker that has the CPU works for */
	__u64 rest_pwq; /* the same after the last mark that was taken */
	__u32 marks, taken; /* so many so far */
	struct work_mark ring[MARKS];
	/* Work space, for the sake of the stack. */
	struct why_turn piece, rest; /* of a turn that is split */
	struct why_traits wanted;
};

/*
 * Since 7.0, sched_switch may come in between: then the mark belongs to a time before the turn that
 * it will be taken in.
 */
static __always_inline void note_work(struct works *works, __u64 pwq, __u64 at_ns)
{
	struct work_mark *mark = &works->ring[works->marks % MARKS];

	mark->at_ns = at_ns;
	mark->pwq = pwq;
	store_ordered(&works->marks, works->marks + 1);
	works->pwq = pwq;
}

#endif
