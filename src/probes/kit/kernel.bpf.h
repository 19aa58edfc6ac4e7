/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels. Each shim names the commit that it is for; the rest of the
 * programs is the same for all kernels.
 */
#ifndef LATSCOPE_PROBES_KIT_KERNEL_BPF_H
#define LATSCOPE_PROBES_KIT_KERNEL_BPF_H

#include "kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "untrusted.bpf.h"

/*
 * A store that other CPUs see after all stores before it and before all after it. x86 keeps the
 * order of stores by itself; elsewhere an exchange does, which BPF defines as a full barrier.
 */
#if defined(__TARGET_ARCH_x86)
#define store_ordered(to, value) \
	({                       \
		barrier();       \
		*(to) = (value); \
		barrier();       \
	})
#else
#define store_ordered(to, value) ((void)__sync_lock_test_and_set(to, value))
#endif

/* Before 5.14 (2f064a59a11f) it was `volatile long state`. */
struct task_struct___state_long {
	volatile long state;
} __attribute__((preserve_access_index));

/* Scheduler state of a task; 0 is TASK_RUNNING. */
static __always_inline __u32 task_state(struct task_struct *task)
{
	struct task_struct___state_long *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return old->state;
}

/* Since 6.12 (152e11f6df29) a task that sleeps may stay on its run queue for a while. */
struct sched_entity___delayed {
	unsigned char sched_delayed;
} __attribute__((preserve_access_index));

/* Is the task asleep, though queued? Only for programs that are loaded where the field exists. */
static __always_inline bool task_delayed(struct task_struct *task)
{
	return ((struct sched_entity___delayed *)&task->se)->sched_delayed;
}

/* Does the task run or wait for a CPU? Its state does not show it: that is what it will do next. */
static __always_inline bool task_is_active(struct task_struct *task)
{
	return task->on_rq &&
	       !(bpf_core_field_exists(struct sched_entity___delayed, sched_delayed) &&
		 task_delayed(task));
}

/* Does the task have a CPU? Unknown on kernels for one CPU; since 7.0 it is a byte, not an int. */
static __always_inline bool task_runs(struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) && task->on_cpu;
}

/* An argument of sched_switch, read again: this is cheaper than to keep it over a call. */
#define SWITCHED(n) ((struct task_struct *)*(volatile __u64 *)&ctx[n])
#define PREV SWITCHED(1)
#define NEXT SWITCHED(2)

/* Does the task sleep until I/O is done, as far as the kernel says so? */
static __always_inline bool task_waits_for_io(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* Does it sleep for want of memory: reclaim, memory.high? Only for kernels with CONFIG_PSI. */
static __always_inline bool task_waits_for_memory(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_memstall) &&
	       BPF_CORE_READ_BITFIELD(task, in_memstall);
}

/* Is it frozen by its cgroup? A task that waits for a vfork says that it is frozen, too. */
static __always_inline bool task_frozen(struct task_struct *task)
{
	return bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD(task, frozen) &&
	       task->jobctl & JOBCTL_TRAP_FREEZE;
}

/* Before 5.17 (e32cf5dfbe22) this was in a member for threads of processes. */
struct task_struct___kthread_in_tid {
	void *set_child_tid;
} __attribute__((preserve_access_index));

/* What the kernel keeps of a kernel thread. */
static __always_inline struct kthread *kthread_of(struct task_struct *task)
{
	struct task_struct___kthread_in_tid *old = (void *)task;

	if (bpf_core_field_exists(task->worker_private))
		return BPF_CORE_READ(task, worker_private);
	return BPF_CORE_READ(old, set_child_tid);
}

/* Number of times that the task has lost its CPU. */
static __always_inline __u64 task_switches(struct task_struct *task)
{
	return *(volatile unsigned long *)&task->nvcsw + *(volatile unsigned long *)&task->nivcsw;
}

/*
 * How long the cgroup of the task (or one above it) was out of quota on the task's CPU so far, by
 * the run queue's clock; 0: never. Since 6.6 (677ea015f231) the kernel keeps this sum. Before, it
 * keeps the same by the clock of the load average (64eaf50731ac), which stands still when the CPU
 * was fully used and then goes idle, and which runs slower at lower frequencies.
 */
static __always_inline __u64 throttled_ns(struct cfs_rq *queue)
{
	__u64 sum, since;

	if (bpf_core_field_exists(queue->throttled_clock_self)) {
		sum = queue->throttled_clock_self_time;
		since = queue->throttled_clock_self;
		return since && queue->rq->clock > since ? sum + queue->rq->clock - since : sum;
	}
	if (!bpf_core_field_exists(queue->throttled_clock_pelt))
		return 0;
	sum = queue->throttled_clock_pelt_time;
	if (!queue->throttle_count)
		return sum;
	return sum + queue->rq->clock_pelt - queue->rq->lost_idle_time -
	       queue->throttled_clock_pelt;
}

/* Id of the task's cgroup in the v2 hierarchy: the inode number of its directory. */
static __always_inline __u64 task_cgroup(struct task_struct *task)
{
	return untrusted(task)->cgroups->dfl_cgrp->kn->id;
}

#define CGROUP_DEPTH 16

/*
 * Is this the cgroup with that id, or one below it? Goes from parent to parent (self.parent). The
 * array of ancestors changed its shape in 6.1 (7f203bc89eb6), and inside a cgroup namespace the
 * path does not tell the depth of a cgroup.
 */
static __always_inline bool cgroup_is_in(struct cgroup *cgroup, __u64 id)
{
	struct cgroup_subsys_state *css;

	for (int i = 0; i < CGROUP_DEPTH && cgroup; i++) {
		if (cgroup->kn->id == id)
			return true;
		css = cgroup->self.parent;
		if (!css)
			return false;
		cgroup = css->cgroup;
	}
	return false;
}

/* Did the event come from user mode? */
static __always_inline bool from_user_mode(struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return ctx->regs.cs & 3;
#else
	return !(ctx->regs.pstate & 0xf); /* PSR_MODE_EL0t */
#endif
}

/*
 * Where the stack pointer of a kretprobe's context is above that of the kprobe at entry: x86 has
 * popped the return address, arm64 keeps it in a register.
 */
#if defined(__TARGET_ARCH_x86)
#define KRETPROBE_SP_SHIFT sizeof(long)
#else
#define KRETPROBE_SP_SHIFT 0
#endif

/* `rq_disk` left struct request in 5.17 (f3fa33acca9f); the queue has known its disk since 5.15. */
struct request___rq_disk {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

static __always_inline struct gendisk *request_disk(struct request *rq)
{
	struct request___rq_disk *old = (void *)rq;

	if (bpf_core_field_exists(old->rq_disk))
		return old->rq_disk;
	return untrusted_request(rq)->q->disk;
}

/*
 * The time that the current task's plug has cached, by which the kernel stamps the requests that
 * the task submits; 0: it has none, and the stamp is true. Only where blk_plug has `cur_ktime`.
 */
static __always_inline __u64 plug_time(void)
{
	struct blk_plug *plug = untrusted(bpf_get_current_task_btf())->plug;

	return plug ? plug->cur_ktime : 0;
}

#endif
