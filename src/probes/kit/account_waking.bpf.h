/* SPDX-License-Identifier: GPL-2.0-only */
/* A part of the account of threads: who ended a long sleep, and with what stack. */
#ifndef LATSCOPE_PROBES_KIT_ACCOUNT_WAKING_BPF_H
#define LATSCOPE_PROBES_KIT_ACCOUNT_WAKING_BPF_H

#include "account.bpf.h"

static __always_inline void describe_sleep(struct where_part *part, struct task_struct *task,
					   struct task_struct *waker, __u32 source)
{
	part->waker_source = source;
	if (source == WHY_NO_SOURCE) {
		part->waker_tid = waker->pid;
		part->waker_tgid = waker->tgid;
		bpf_probe_read_kernel_str(part->waker_comm, sizeof(part->waker_comm), waker->comm);
	}
	part->stack_size = bpf_get_task_stack(task, part->stack, sizeof(part->stack), 0);
}

/*
 * The wakeup of a thread is requested, by `waker` unless `source` is an interrupt: sends its sleep
 * if it was long. Its stack and registers are still those of the sleep.
 */
static __noinline int account_waking(struct task_struct *task, struct task_struct *waker,
				     __u32 source)
{
	struct where_thread *own = account_of(task);
	struct where_part *part;
	__u64 now;

	if (!own || !WHERE_IS_SLEEP(own->what) || own->woken_ns)
		return 0;
	now = bpf_ktime_get_ns();
	if (own->since_ns < account.inside_ns || now - own->since_ns < account.over_ns)
		return 0;
	part = begin_part(task, own, now);
	if (!part)
		return 0;
	describe_sleep(part, task, waker, source);
	bpf_ringbuf_submit(part, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
