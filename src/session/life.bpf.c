// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long processes lived within the window. Those that end in it are counted when their tasks
 * exit; an iterator shows those that are still there when it closes, and what they do now and then.
 */
#include <probes/kit/filter.bpf.h>

#include "life_types.h"

const volatile struct lat_config config = {}; /* the filters */
struct lat_life_control control = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lat_life);
} ended SEC(".maps");

static __always_inline __u64 since(__u64 start_ns, __u64 now)
{
	__u64 from = start_ns > control.opened_ns ? start_ns : control.opened_ns;

	return now > from ? now - from : 0;
}

/* Two tasks that exit at the same time may both be the last one: only one of them counts. */
static __always_inline void count_process(struct lat_life *life, __u64 start_ns, __u64 now)
{
	__u64 last = life->last_start_ns;

	if (last != start_ns &&
	    __sync_val_compare_and_swap(&life->last_start_ns, last, start_ns) == last)
		__sync_fetch_and_add(&life->lived_ns, since(start_ns, now));
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(exited, struct task_struct *task)
{
	const struct lat_life none = {};
	__u32 tgid = task->tgid;
	struct lat_life *life;
	__u64 now;

	if (!control.opened_ns)
		return 0;
	now = bpf_ktime_get_ns();
	life = bpf_map_lookup_elem(&ended, &tgid);
	if (!life) {
		bpf_map_update_elem(&ended, &tgid, &none, BPF_NOEXIST);
		life = bpf_map_lookup_elem(&ended, &tgid);
	}
	if (!life) {
		__sync_fetch_and_add(&control.not_kept, 1);
		return 0;
	}
	__sync_fetch_and_add(&life->thread_ns, since(task->start_time, now));
	if (task_wanted(&config, task)) {
		__sync_fetch_and_add(&life->wanted_ns, since(task->start_time, now));
		__sync_fetch_and_add(&life->run_ns, task->se.sum_exec_runtime);
		__sync_fetch_and_add(&life->queue_ns, task->sched_info.run_delay);
		BPF_CORE_READ_STR_INTO(&life->process, task, group_leader, comm);
	}
	if (!task->signal->live.counter)
		count_process(life, task->group_leader->start_time, now);
	return 0;
}

static __always_inline __u32 state_of(struct task_struct *task)
{
	__u32 state = task_state(task);

	if (!state)
		return LAT_AWAKE;
	return state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD) ? LAT_BLOCKED : LAT_SLEEPS;
}

static __always_inline __s32 call_of(struct task_struct *task)
{
	struct pt_regs *regs;

	if (task->flags & PF_KTHREAD ||
	    !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return LAT_NO_CALL;
	regs = (void *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(regs, orig_ax);
#else
	return BPF_CORE_READ(regs, syscallno);
#endif
}

/* Is it the process that reads the iterator, or a child that executes nothing else? */
static __always_inline bool is_reader(struct task_struct *task)
{
	struct mm_struct *mm = task->mm, *own = bpf_get_current_task_btf()->mm;

	return mm && own && mm->exe_file == own->exe_file;
}

SEC("iter/task")
int living(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct lat_life_task found = {};

	if (!task || task->flags & PF_EXITING)
		return 0;
	found.process_start_ns = task->group_leader->start_time;
	found.thread_start_ns = task->start_time;
	found.run_ns = task->se.sum_exec_runtime;
	found.queue_ns = task->sched_info.run_delay;
	found.tgid = task->tgid;
	found.tid = task->pid;
	found.state = state_of(task);
	found.call = found.state == LAT_AWAKE ? LAT_NO_CALL : call_of(task);
	found.kind = task_wanted(&config, task) ? LAT_LIFE_WANTED : 0;
	if (task->flags & PF_KTHREAD)
		found.kind |= LAT_LIFE_KERNEL;
	if (is_reader(task))
		found.kind |= LAT_LIFE_LATSCOPE;
	BPF_CORE_READ_STR_INTO(&found.process, task, group_leader, comm);
	bpf_seq_write(ctx->meta->seq, &found, sizeof(found));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
