/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults that the kernel counts for a task and that no program sees: of GUP, which has no perf
 * event, and those for which a program was skipped. The kernel adds a fault to min_flt or maj_flt
 * of the task before the event of its end, GUP or not, and only if it succeeds (since Linux 5.9).
 *
 * User space runs the two iterators while the window is open. With a filter, perf-event compares at
 * each event; otherwise user space subtracts what was seen of all tasks meanwhile.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_UNSEEN_BPF_H
#define LATSCOPE_PROBES_MEMLAT_UNSEEN_BPF_H

#include "sample.bpf.h"

struct memlat_unseen unseen = {};

static __always_inline __u64 faults_of(struct task_struct *task)
{
	return task->min_flt + task->maj_flt;
}

static __always_inline bool is_exiting(struct task_struct *task)
{
	return task->flags & PF_EXITING;
}

/* Faults of the task since it was looked at last, less those that were seen. */
static __always_inline void add_unseen(struct memlat_task *own, struct task_struct *task,
				       __u64 were_seen)
{
	__u64 faults = faults_of(task);
	__s64 more = faults - own->faults - were_seen;

	/* -1: a reading was between the kernel's count of a fault and its event. */
	if (own->has_faults && more >= -1)
		__sync_fetch_and_add(&unseen.faults, more);
	own->faults = faults;
	own->has_faults = 1;
}

/*
 * At the end of a fault that a program sees, with a filter. A task that the filters let in only now
 * is looked at from here on.
 */
static __noinline int note_seen(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct memlat_task *own = task_mark(BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (own && unseen.counts)
		add_unseen(own, task, 1);
	return 0;
}

/* A task that did not exist when the count began had no faults. */
static __always_inline void count_rest(struct task_struct *task)
{
	struct memlat_task *own;

	own = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!own)
		return;
	if (!own->has_faults && !unseen.at_events && task->start_time >= unseen.since_ns)
		own->has_faults = 1;
	add_unseen(own, task, 0);
}

SEC("iter/task")
int unseen_begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct memlat_task *own;

	if (!task || is_exiting(task) || !task_wanted(&config, task))
		return 0;
	own = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!own)
		return 0;
	own->faults = faults_of(task);
	own->has_faults = 1;
	return 0;
}

/* Tasks that exit have been counted by then. */
SEC("iter/task")
int unseen_end(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !is_exiting(task) && task_wanted(&config, task))
		count_rest(task);
	return 0;
}

static __always_inline void unseen_at_exit(struct task_struct *task)
{
	if (unseen.counts && task_wanted(&config, task))
		count_rest(task);
}

#endif
