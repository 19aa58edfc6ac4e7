/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runqlat keeps of each task. Maps are defined here, so only runqlat.bpf.c may include this.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_TASK_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_TASK_BPF_H

#include <probes/kit/kernel.bpf.h>
#include <latscope/event.h>

#include "types.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct runqlat_task);
} tasks SEC(".maps");

/*
 * Much cheaper than task storage, which takes a call, or a map, which takes a look-up: one cache
 * line per task, by TID. Whole pages, which user space leaves out of its memory.
 */
struct runqlat_task task_lines[RUNQLAT_LINES] __attribute__((aligned(4096))) = {};

static __always_inline struct runqlat_task *line_of(__u32 tid)
{
	return &task_lines[tid % RUNQLAT_LINES];
}

static __always_inline bool is_line_of(const struct runqlat_task *line, struct task_struct *task,
				       __u32 tid)
{
	return line->task == (__u64)task && line->tid == tid;
}

/* What is kept of a task; NULL: nothing, because the programs did not see it begin. */
static __always_inline struct runqlat_task *find_own(struct task_struct *task)
{
	__u32 tid = task->pid;
	struct runqlat_task *line = line_of(tid);

	if (is_line_of(line, task, tid))
		return line;
	return bpf_task_storage_get(&tasks, task, NULL, 0);
}

/*
 * Makes the line of a task, with what `fresh` says; 0: another task has it. The iterator and
 * task_newtask may do so at once for the same task: the second leaves it to the first. If a new
 * task finds a line with its own ID and memory, another task left it, whose end no program saw.
 */
static __noinline int make_line(struct task_struct *task, const struct runqlat_task *fresh,
				bool is_new)
{
	__u32 tid = task->pid;
	struct runqlat_task *line = line_of(tid);
	__u64 old;

	old = __sync_val_compare_and_swap(&line->task, 0, (__u64)task);
	if (old && old != (__u64)task)
		return 0;
	if (old && (!line->tid || (!is_new && line->tid == tid)))
		return 1;
	store_ordered(&line->tid, 0); /* of a task whose end was not seen, in the same memory */
	line->moved = fresh->moved;
	line->unknown = fresh->unknown;
	line->preempted = 0;
	line->ended = 0;
	line->run_delay = fresh->run_delay;
	line->arrivals = fresh->arrivals;
	line->queued_ns = fresh->queued_ns;
	line->request_ns = 0;
	line->quota_of = 0;
	store_ordered(&line->tid, tid);
	return 1;
}

/* Makes the entry of a task: its line, or task storage. Not under the run queue's lock. */
static __always_inline int make_own(struct task_struct *task, struct runqlat_task *fresh,
				    bool is_new)
{
	if (!make_line(task, fresh, is_new))
		bpf_task_storage_get(&tasks, task, fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

static __always_inline void drop_line(struct task_struct *task, __u32 tid)
{
	struct runqlat_task *line = line_of(tid);

	if (!is_line_of(line, task, tid))
		return;
	store_ordered(&line->tid, 0);
	store_ordered(&line->task, 0);
}

/*
 * The task has lost its CPU for the last time. If another thread has executed a program meanwhile,
 * the first thread of the process has that one's ID now.
 */
static __always_inline void drop_own(struct task_struct *task)
{
	drop_line(task, task->pid);
	drop_line(task, task->tgid);
}

#endif
