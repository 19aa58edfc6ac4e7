/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When runqlat makes what it keeps of a task: at the attach, when the task begins, and when it gets
 * another ID. Programs are defined here, so only runqlat.bpf.c may include this.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_LIFE_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_LIFE_BPF_H

#include "stamps.bpf.h"
#include "task.bpf.h"

/* ---- a task begins ---- */

/* A new task has not waited yet: its entry starts at zero. */
static __always_inline int make_fresh(struct task_struct *task, bool is_new)
{
	struct runqlat_task fresh = {};

	return make_own(task, &fresh, is_new);
}

SEC("tp_btf/task_newtask")
int BPF_PROG(newtask, struct task_struct *task)
{
	return make_fresh(task, true);
}

/*
 * The same for kernels (7.0) that preempt a program at a tracepoint, and do not run it for other
 * tasks on that CPU until its task resumes. Scheduler tracepoints run with interrupts off.
 */
SEC("tp_btf/task_newtask")
int BPF_PROG(newtask_again, struct task_struct *task)
{
	return make_fresh(task, true);
}

/* ---- a task exists ---- */

static __always_inline int make_by_account(struct task_struct *task)
{
	struct runqlat_task fresh = {};

	fresh.arrivals = task->sched_info.pcount;
	/* In this order, a wait that ends between the two counts as joined and is not lost. */
	store_ordered(&fresh.queued_ns, 0);
	fresh.run_delay = task->sched_info.run_delay;
	if (stamps_deceive()) {
		fresh.queued_ns = take_stray(task->pid);
		/* A task that waits may have been moved during its sleep; one that sleeps was. */
		fresh.unknown = task->sched_info.last_queued && task_is_active(task);
		fresh.moved = task->sched_info.last_queued && !task_is_active(task);
	}
	return make_own(task, &fresh, false);
}

/* Runs once, after the attach: makes the entries of all existing tasks. */
SEC("iter/task")
int prime(struct bpf_iter__task *ctx)
{
	return ctx->task ? make_by_account(ctx->task) : 0;
}

/* The same for methods that do not use the kernel's account. */
SEC("iter/task")
int stored_prime(struct bpf_iter__task *ctx)
{
	return ctx->task ? make_fresh(ctx->task, false) : 0;
}

/* ---- a task gets another ID ---- */

/*
 * A thread that is not the first one of its process executes a program: it has the ID of the
 * process from then on, so its line is another one. Does it need that?
 */
static __always_inline bool lacks_own(struct task_struct *task, __u32 old_tid)
{
	if (old_tid == (__u32)task->pid)
		return false;
	drop_line(task, old_tid);
	return !find_own(task);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(stamps_exec, struct task_struct *task, int old_tid)
{
	return lacks_own(task, old_tid) ? make_by_account(task) : 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(stored_exec, struct task_struct *task, int old_tid)
{
	return lacks_own(task, old_tid) ? make_fresh(task, false) : 0;
}

#endif
