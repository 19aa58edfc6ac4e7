/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of page faults for mmap_lock, and who held it. A fault waits for it before it comes to
 * handle_mm_fault(), or between two calls of that. The kernel tells of a wait for any lock (since
 * Linux 5.19, 16edd9b511a1); the address shows which lock it is. Only why.bpf.h includes it.
 *
 * A writer is in the lock's owner field. A reader is there, too, but maybe long gone. So a holder
 * is only told where the same task held the lock for writing when the wait began and woke the
 * waiter up: who releases the lock does that.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_LOCK_BPF_H
#define LATSCOPE_PROBES_MEMLAT_LOCK_BPF_H

#include "state.bpf.h"

#define OWNER_BITS 7 /* of the owner field; the rest is the address of a task */

static __always_inline bool is_own_lock(struct task_struct *task, __u64 lock)
{
	__u64 mm = (__u64)untrusted(task)->mm;

	return mm && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock);
}

/* The task that holds the lock for writing. */
static __always_inline __u64 writer_of(__u64 lock)
{
	struct rw_semaphore *semaphore = (void *)lock;
	__u64 owner;

	if (!bpf_core_field_exists(semaphore->owner))
		return 0;
	owner = BPF_CORE_READ(semaphore, owner.counter);
	return owner & OWNER_BITS ? 0 : owner;
}

/* The lock is of one process, so by process its thread is told. */
static __always_inline void describe_owner(struct why_who *who, struct task_struct *task)
{
	__builtin_memset(who, 0, sizeof(*who));
	if (why_by() == LAT_BY_CGROUP) {
		who->id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
		return;
	}
	who->id = BPF_CORE_READ(task, pid);
	BPF_CORE_READ_STR_INTO(&who->comm, task, comm);
}

static __always_inline void lock_begins(struct why_call *state, __u64 lock)
{
	state->locking = 1;
	state->before_ns = state->part_ns[WHY_MEMLAT_LOCK];
	state->owner = writer_of(lock);
	state->waker = 0;
	if (state->owner)
		describe_owner(&state->owner_is, (void *)state->owner);
}

static __always_inline void keep_holder(struct why_call *state)
{
	__u64 ns = state->part_ns[WHY_MEMLAT_LOCK] - state->before_ns;

	if (!state->owner || state->owner != state->waker)
		return;
	if (state->holder_ns && state->holder.id == state->owner_is.id) {
		state->holder_ns += ns;
	} else if (ns > state->holder_ns) {
		state->holder = state->owner_is;
		state->holder_ns = ns;
	}
}

static __noinline int lock_changes(__u64 lock, bool begins)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid, place = first_place(tid);

	if (!is_own_lock(task, lock))
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, begins);

		if (state && begins) {
			lock_begins(state, lock);
		} else if (state && state->locking) {
			keep_holder(state);
			state->locking = 0;
		}
	}
	return 0;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(why_lock_begin, void *lock)
{
	if (may_have_call(bpf_get_current_pid_tgid()))
		lock_changes((__u64)lock, true);
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(why_lock_end, void *lock)
{
	if (may_have_call(bpf_get_current_pid_tgid()))
		lock_changes((__u64)lock, false);
	return 0;
}

static __noinline int lock_waking(struct task_struct *task)
{
	__u32 tid = task->pid, place = first_place(tid);

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, false);

		if (state && state->locking)
			state->waker = (__u64)bpf_get_current_task_btf();
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(why_lock_waking, struct task_struct *task)
{
	if (may_have_call(task->pid))
		lock_waking(task);
	return 0;
}

#endif
