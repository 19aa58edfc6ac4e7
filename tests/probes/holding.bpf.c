// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sched_ext scheduler that keeps all tasks in queues of its own, one for each of two CPUs, first
 * come, first served. A task named "held" that wakes up is held for 20 ms or more, even if its CPU
 * is idle; how long in all is in the map held_task.
 */
#include <probes/kit/kernel.bpf.h>

#define HOLD_NS 20000000
#define SLICE_NS 5000000
#define LOCAL 0x8000000000000002ULL /* SCX_DSQ_LOCAL: the queue of the CPU that asks */
#define WAKEUP 1 /* SCX_ENQ_WAKEUP */
#define CPUS 2
#define MONOTONIC 1

enum { BPF_MAP_TYPE_QUEUE = 22 };

struct bpf_timer {
	__u64 opaque[2];
};

struct sched_ext_ops {
	__s32 (*select_cpu)(struct task_struct *task, __s32 before, __u64 flags);
	void (*enqueue)(struct task_struct *task, __u64 flags);
	void (*dispatch)(__s32 cpu, struct task_struct *before);
	__s32 (*init)(void);
	char name[128];
};

void scx_bpf_dsq_insert(struct task_struct *task, __u64 queue, __u64 slice_ns, __u64 flags) __ksym;
void scx_bpf_kick_cpu(__s32 cpu, __u64 flags) __ksym;
__s32 scx_bpf_task_cpu(const struct task_struct *task) __ksym;
struct task_struct *bpf_task_from_pid(__s32 pid) __ksym;
void bpf_task_release(struct task_struct *task) __ksym;

struct queue {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, __s32);
};
struct queue of_cpu_0 SEC(".maps"), of_cpu_1 SEC(".maps");

struct held {
	struct bpf_timer timer;
	__s32 tid, cpu; /* tid 0: none */
	__u64 since_ns, sum_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct held);
} held_task SEC(".maps");

static __always_inline struct held *find_held(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&held_task, &only);
}

static __always_inline bool is_to_be_held(const struct task_struct *task)
{
	static const char name[] = "held";

	for (unsigned int i = 0; i < sizeof(name); i++)
		if (task->comm[i] != name[i])
			return false;
	return true;
}

static __always_inline void push(__s32 cpu, __s32 tid)
{
	if (cpu)
		bpf_map_push_elem(&of_cpu_1, &tid, BPF_ANY);
	else
		bpf_map_push_elem(&of_cpu_0, &tid, BPF_ANY);
}

static int wake_cpu(void *map, __u32 *key, struct held *held)
{
	scx_bpf_kick_cpu(held->cpu, 0);
	return 0;
}

SEC("struct_ops/select_cpu")
__s32 BPF_PROG(stay, struct task_struct *task, __s32 before, __u64 flags)
{
	return before;
}

SEC("struct_ops/enqueue")
void BPF_PROG(keep, struct task_struct *task, __u64 flags)
{
	struct held *held = find_held();
	__s32 cpu = scx_bpf_task_cpu(task);

	if (held && flags & WAKEUP && is_to_be_held(task)) {
		held->cpu = cpu;
		held->since_ns = bpf_ktime_get_ns();
		held->tid = task->pid;
		bpf_timer_start(&held->timer, HOLD_NS, 0);
		return;
	}
	push(cpu, task->pid);
	scx_bpf_kick_cpu(cpu, 0);
}

static __always_inline bool insert(__s32 tid, __s32 cpu)
{
	struct task_struct *task = bpf_task_from_pid(tid);
	bool here;

	if (!task)
		return false;
	here = scx_bpf_task_cpu(task) == cpu; /* else it was queued again elsewhere */
	if (here)
		scx_bpf_dsq_insert(task, LOCAL, SLICE_NS, 0);
	bpf_task_release(task);
	return here;
}

SEC("struct_ops/dispatch")
void BPF_PROG(give, __s32 cpu, struct task_struct *before)
{
	struct held *held = find_held();
	__s32 tid;

	if (held && held->tid && held->cpu == cpu &&
	    bpf_ktime_get_ns() - held->since_ns >= HOLD_NS) {
		tid = held->tid;
		held->tid = 0;
		held->sum_ns += bpf_ktime_get_ns() - held->since_ns;
		if (insert(tid, cpu))
			return;
	}
	for (int i = 0; i < 16; i++) {
		if (cpu ? bpf_map_pop_elem(&of_cpu_1, &tid) : bpf_map_pop_elem(&of_cpu_0, &tid))
			return;
		if (insert(tid, cpu))
			return;
	}
}

SEC("struct_ops/init")
__s32 BPF_PROG(begin)
{
	struct held *held = find_held();

	if (!held)
		return -1;
	bpf_timer_init(&held->timer, &held_task, MONOTONIC);
	return bpf_timer_set_callback(&held->timer, wake_cpu);
}

SEC(".struct_ops")
struct sched_ext_ops holding = {
	.select_cpu = (void *)stay,
	.enqueue = (void *)keep,
	.dispatch = (void *)give,
	.init = (void *)begin,
	.name = "holding",
};

char LICENSE[] SEC("license") = "GPL";
