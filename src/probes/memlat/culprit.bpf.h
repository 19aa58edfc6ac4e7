/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What page faults slept for: the disk of a swap-in, and the thread that served a fault by
 * userfaultfd. Only the methods fentry and kprobe see the functions of the kernel that tell it.
 * Included by why.bpf.h alone.
 *
 * userfaultfd_wake_function() runs in the thread that answers, for each fault that waits there,
 * also if the answer is for another page. If it then wakes the task up, that thread has served it.
 * A signal ends a wait without it.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_CULPRIT_BPF_H
#define LATSCOPE_PROBES_MEMLAT_CULPRIT_BPF_H

#include "lock.bpf.h"
#include "state.bpf.h"

/* ---- userfaultfd ---- */

static __noinline int may_answer(struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid), place = first_place(tid);

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, false);

		if (state)
			state->answerer = (__u64)bpf_get_current_task_btf();
	}
	return 0;
}

static __always_inline int wakes_waiter(__u64 entry)
{
	struct task_struct *task = BPF_CORE_READ((struct wait_queue_entry *)entry, private);

	return task ? may_answer(task) : 0;
}

SEC("fentry/userfaultfd_wake_function")
int why_answer(const __u64 *ctx)
{
	return wakes_waiter(ctx[0]);
}

SEC("kprobe/userfaultfd_wake_function")
int BPF_KPROBE(why_answer_kprobe, unsigned long long entry)
{
	return wakes_waiter(entry);
}

static __noinline int answer_wakes(struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 tid = task->pid, place = first_place(tid);

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, false);

		if (!state || state->answerer != (__u64)current)
			continue;
		state->served = 1;
		describe_owner(&state->answerer_is, current);
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(why_answer_waking, struct task_struct *task)
{
	if (may_have_call(task->pid))
		answer_wakes(task);
	return 0;
}

/* A sleep is over. Has a thread served it, by userfaultfd? */
static __always_inline bool wait_was_served(struct why_call *state)
{
	bool served = state->served;

	state->answerer = 0;
	state->served = 0;
	return served;
}

static __always_inline void keep_server(struct why_call *state, __u64 ns)
{
	if (state->server_ns && state->server.id == state->answerer_is.id) {
		state->server_ns += ns;
	} else if (ns > state->server_ns) {
		state->server = state->answerer_is;
		state->server_ns = ns;
	}
}

/* ---- swap ---- */

static __noinline int swaps_from(__u64 device)
{
	__u32 tid = bpf_get_current_pid_tgid(), place = first_place(tid);
	struct swap_info_struct *swap = (void *)device;
	struct gendisk *disk;

	if (!device || !may_have_call(tid) || reclaims())
		return 0;
	disk = BPF_CORE_READ(swap, bdev, bd_disk);
	if (!disk)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, true);

		if (state)
			state->swap_disk = (__u64)BPF_CORE_READ(disk, major) << 20 |
					   BPF_CORE_READ(disk, first_minor);
	}
	return 0;
}

/* Its only argument is a number of one register; the second word is what it returns. */
SEC("fexit/get_swap_device")
int why_swap(const __u64 *ctx)
{
	return swaps_from(ctx[1]);
}

SEC("kretprobe/get_swap_device")
int BPF_KRETPROBE(why_swap_kprobe, unsigned long long device)
{
	return swaps_from(device);
}

#endif
