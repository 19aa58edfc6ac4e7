// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program of tests/reference/disturbance.c: counts the switches for which it is run, and the
 * time that a CPU spends in processes that do not descend from one.
 */
#include <probes/kit/kernel.bpf.h>

#define MAX_CPUS 1024
#define MAX_GENERATIONS 32

struct task_struct___family {
	struct task_struct___family *real_parent;
	unsigned int flags;
	int tgid;
} __attribute__((preserve_access_index));

const volatile int root = 0;
__u64 switches = 0;
/* By CPU. If such a process has it now, since since_ns, others_ns is without that. */
__u64 others_ns[MAX_CPUS] = {};
__u64 since_ns[MAX_CPUS] = {};

static __always_inline bool is_other(struct task_struct___family *task)
{
	if (!BPF_CORE_READ(task, tgid) || BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return false;
	for (int i = 0; i < MAX_GENERATIONS && task; i++) {
		int tgid = BPF_CORE_READ(task, tgid);

		if (tgid == root)
			return false;
		if (tgid <= 1)
			return true;
		task = BPF_CORE_READ(task, real_parent);
	}
	return true;
}

SEC("raw_tp/sched_switch")
int BPF_PROG(count, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id() % MAX_CPUS;
	__u64 now = bpf_ktime_get_ns();

	__sync_fetch_and_add(&switches, 1);
	if (since_ns[cpu])
		others_ns[cpu] += now - since_ns[cpu];
	since_ns[cpu] = is_other((struct task_struct___family *)next) ? now : 0;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
