/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a page fault was slow: where its task was meanwhile. sched_switch notes when the task of an
 * open call loses and gets a CPU, tracepoints note reclaim and compaction; what is left at the end
 * of the fault is time on a CPU. Included by memlat.bpf.c alone.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_WHY_BPF_H
#define LATSCOPE_PROBES_MEMLAT_WHY_BPF_H

#include <probes/kit/why.bpf.h>

#include "culprit.bpf.h"
#include "lock.bpf.h"
#include "state.bpf.h"

/* When all programs that follow calls were attached. */
__u64 why_attached_ns = 0;

/* Where a task slept: the longest sleep of a call, and room for the next one. */
struct why_stack {
	__u64 start_ns; /* of the call */
	__u32 tid;
	__u32 best; /* 0 or 1 */
	__s64 size[2]; /* bytes; negative: -errno */
	__u64 frames[2][WHY_FRAMES];
};

/* User space sizes it to WHY_STACKS: by hash of the TID, so the last of two tasks has the place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_stack);
} why_stacks SEC(".maps");

/* ---- stacks ---- */

/*
 * Can the stack of a task be read when it gets the CPU back? Before 6.10 the kernel may warn: see
 * stacks_are_safe(). Then it is read at each sleep, before it is known how long that will be.
 */
static __always_inline bool reads_stack_late(void)
{
	return bpf_core_field_exists(((struct blk_plug *)NULL)->cur_ktime);
}

static __always_inline struct why_stack *stack_of(__u32 tid)
{
	__u32 place = first_place(tid) & (WHY_STACKS - 1);

	return bpf_map_lookup_elem(&why_stacks, &place);
}

static __always_inline bool is_stack_of(const struct why_stack *stack, __u32 tid, __u64 start_ns)
{
	return stack->tid == tid && stack->start_ns == start_ns;
}

static __always_inline void read_stack(struct task_struct *task, const struct why_call *state)
{
	struct why_stack *stack = stack_of(task->pid);
	__u32 spare;

	if (!stack)
		return;
	if (!is_stack_of(stack, task->pid, state->start_ns)) {
		stack->tid = task->pid;
		stack->start_ns = state->start_ns;
		stack->best = 0;
		stack->size[0] = 0;
	}
	spare = !stack->best;
	if (spare)
		stack->size[1] =
			bpf_get_task_stack(task, stack->frames[1], sizeof(stack->frames[1]), 0);
	else
		stack->size[0] =
			bpf_get_task_stack(task, stack->frames[0], sizeof(stack->frames[0]), 0);
}

/* The stack that was read last is that of the longest sleep. */
static __always_inline void keep_stack(__u32 tid, const struct why_call *state)
{
	struct why_stack *stack = stack_of(tid);

	if (stack && is_stack_of(stack, tid, state->start_ns))
		stack->best = !stack->best;
}

/* Can an event come of a fault with a sleep of this length? */
static __always_inline bool wants_stack(__u64 ns)
{
	return ns >=
	       (why_control.over_ns == ~0ULL ? why_control.least_ns : why_control.event_ns) / 16;
}

/* ---- sched_switch ---- */

/* The run queue's clock, as in runqlat.bpf.c. */
static __always_inline __u64 clock_of_queue(struct task_struct *task)
{
	return untrusted(task)->se.cfs_rq->rq->clock;
}

static __always_inline bool knows_stamps(void)
{
	return bpf_core_field_exists(((struct sched_info *)NULL)->last_queued) &&
	       bpf_core_field_exists(((struct sched_entity *)NULL)->cfs_rq);
}

/* The task, which is current, loses the CPU. */
static __noinline int call_out(struct task_struct *task, bool preempt)
{
	bool sleeps = !preempt && task_state(task);
	__u32 place = first_place(task->pid), tid = task->pid;
	__u64 now = bpf_ktime_get_ns();

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, true);

		if (!state)
			continue;
		state->out_ns = now;
		state->off_part = !sleeps		    ? WHY_MEMLAT_RUNNABLE
				  : task_waits_for_io(task) ? WHY_MEMLAT_IO
							    : WHY_MEMLAT_BLOCKED;
		state->moved = 0;
		if (!sleeps)
			continue;
		if (knows_stamps()) {
			state->out_clock = clock_of_queue(task);
			state->run_delay = task->sched_info.run_delay;
		}
		if (!reads_stack_late() && why_control.least_ns != ~0ULL)
			read_stack(task, state);
	}
	return 0;
}

/*
 * How much of the time that the task was without a CPU it slept, by the scheduler's stamps: until
 * it was queued, less what it waited in the queues of other CPUs before. The scheduler's clocks of
 * two CPUs may differ a little. Its clock of this CPU may be old, so it is not used.
 */
static __always_inline __u64 asleep_ns(const struct why_call *state, struct task_struct *task)
{
	__s64 before = task->sched_info.run_delay - state->run_delay;
	__s64 ns = task->sched_info.last_queued - state->out_clock - before;

	if (ns < 0)
		return 0;
	return (__u64)ns < state->off_ns ? (__u64)ns : state->off_ns;
}

static __always_inline void count_sleep(struct why_call *state, struct task_struct *task)
{
	__u64 asleep;

	bool served = wait_was_served(state);

	if (!knows_stamps() || state->moved || !task->sched_info.last_queued) {
		state->part_ns[WHY_MEMLAT_UNKNOWN] += state->off_ns;
		return;
	}
	asleep = asleep_ns(state, task);
	if (asleep > state->longest_ns && wants_stack(asleep)) {
		if (reads_stack_late())
			read_stack(task, state);
		keep_stack(task->pid, state);
		state->longest_ns = asleep;
	}
	if (state->since_ns) /* all of it is reclaim or compaction */
		return;
	if (state->locking)
		state->part_ns[WHY_MEMLAT_LOCK] += asleep;
	else if (state->off_part == WHY_MEMLAT_IO)
		state->part_ns[WHY_MEMLAT_IO] += asleep;
	else
		state->part_ns[WHY_MEMLAT_BLOCKED] += asleep;
	if (served && !state->locking && state->off_part == WHY_MEMLAT_BLOCKED)
		keep_server(state, asleep);
	state->part_ns[WHY_MEMLAT_RUNNABLE] += state->off_ns - asleep;
}

/* The task is about to get the CPU. */
static __noinline int call_in(struct task_struct *task)
{
	__u32 place = first_place(task->pid), tid = task->pid;
	__u64 now = bpf_ktime_get_ns();

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, false);

		if (!state || !state->out_ns)
			continue;
		state->in_ns = now;
		state->off_ns = now - state->out_ns;
		state->out_ns = 0;
		if (state->off_part != WHY_MEMLAT_RUNNABLE)
			count_sleep(state, task);
		else if (!state->since_ns)
			state->part_ns[WHY_MEMLAT_RUNNABLE] += state->off_ns;
	}
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(why_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (prev->pid && may_have_call(prev->pid))
		call_out(prev, preempt);
	if (next->pid && may_have_call(next->pid))
		call_in(next);
	return 0;
}

/* See stamps_migrate() in runqlat.bpf.c: only where a task may sleep and stay on its queue. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(why_migrate, struct task_struct *task)
{
	__u32 place = first_place(task->pid), tid = task->pid;

	if (!task_delayed(task) || !may_have_call(tid))
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, false);

		if (state)
			state->moved = 1;
	}
	return 0;
}

/* ---- reclaim and compaction: all of the time from begin to end, also that without a CPU ---- */

static __noinline int span_begins(__u32 part)
{
	__u32 tid = bpf_get_current_pid_tgid(), place = first_place(tid);
	__u64 now;

	if (!may_have_call(tid))
		return 0;
	now = bpf_ktime_get_ns();
#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, true);

		if (!state || state->since_ns)
			continue;
		state->since_part = part;
		state->since_ns = now;
	}
	return 0;
}

static __always_inline void add_span(__u64 *part_ns, const struct why_call *state, __u64 now)
{
	__u64 ns = now > state->since_ns ? now - state->since_ns : 0;

	if (state->since_part == WHY_MEMLAT_COMPACTION)
		part_ns[WHY_MEMLAT_COMPACTION] += ns;
	else
		part_ns[WHY_MEMLAT_RECLAIM] += ns;
}

static __noinline int span_ends(__u32 part)
{
	__u32 tid = bpf_get_current_pid_tgid(), place = first_place(tid);
	__u64 now;

	if (!may_have_call(tid))
		return 0;
	now = bpf_ktime_get_ns();
#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct why_call *state = state_at(place + i, tid, false);

		if (!state || !state->since_ns || state->since_part != part)
			continue;
		add_span(state->part_ns, state, now);
		state->since_ns = 0;
	}
	return 0;
}

#define SPAN_PROGRAM(name, point, what, part) \
	SEC("tp_btf/" #point)                 \
	int name(void *ctx)                   \
	{                                     \
		return span_##what(part);     \
	}

SPAN_PROGRAM(why_reclaim_begin, mm_vmscan_direct_reclaim_begin, begins, WHY_MEMLAT_RECLAIM)
SPAN_PROGRAM(why_reclaim_end, mm_vmscan_direct_reclaim_end, ends, WHY_MEMLAT_RECLAIM)
SPAN_PROGRAM(why_memcg_begin, mm_vmscan_memcg_reclaim_begin, begins, WHY_MEMLAT_RECLAIM)
SPAN_PROGRAM(why_memcg_end, mm_vmscan_memcg_reclaim_end, ends, WHY_MEMLAT_RECLAIM)
SPAN_PROGRAM(why_node_begin, mm_vmscan_node_reclaim_begin, begins, WHY_MEMLAT_RECLAIM)
SPAN_PROGRAM(why_node_end, mm_vmscan_node_reclaim_end, ends, WHY_MEMLAT_RECLAIM)
SPAN_PROGRAM(why_compaction_begin, mm_compaction_begin, begins, WHY_MEMLAT_COMPACTION)
SPAN_PROGRAM(why_compaction_end, mm_compaction_end, ends, WHY_MEMLAT_COMPACTION)

/* ---- the end of a fault ---- */

/* What backs the faulting address. */
struct backing {
	struct why_who disk; /* its ID is major << 20 | minor; 0: unknown, or none */
	bool no_disk; /* a file of a file system without disk: FUSE, NFS */
};

static __always_inline void find_backing(struct backing *backing, struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	struct super_block *super;
	struct gendisk *disk;

	if (!file)
		return;
	super = file->f_inode->i_sb;
	if (!super->s_bdev) {
		/* A file of tmpfs may be in the swap. */
		backing->no_disk = super->s_magic != TMPFS_MAGIC;
		return;
	}
	disk = super->s_bdev->bd_disk;
	backing->disk.id = (__u64)disk->major << 20 | disk->first_minor;
}

static long backing_of(struct task_struct *task, struct vm_area_struct *vma, void *backing)
{
	find_backing(backing, vma);
	return 0;
}

/* A slow fault, and its task, which is current. */
struct slow {
	__u64 id; /* of the call */
	__u64 start_ns;
	__u64 end_ns;
	__u64 ns;
	__u64 address;
	__u64 part_ns[WHY_MEMLAT_PARTS];
	struct backing backing;
	const struct why_call *state; /* NULL: it was on a CPU all the time */
	__u64 holder_ns; /* of the wait for mmap_lock, what is of state->holder */
	__u64 server_ns; /* of the time blocked, what is of state->server */
	struct why_who victim;
	bool own_memory; /* the fault is in the memory of the task, not of another process */
	bool not_followed; /* it is not in the table of calls */
	bool counts; /* else it is a candidate */
};

static __always_inline const struct why_call *find_state(const struct slow *slow)
{
	__u32 tid = id_tid(slow->id), place = first_place(tid);
	struct why_call *state = NULL;

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES && !state; i++)
		if (place_at(place + i)->id == slow->id)
			state = state_at(place + i, tid, false);
	return state;
}

/*
 * Copies the parts. A program at the end of the fault that was preempted after it read the clock
 * has waited for a CPU since, which is not part of the sample.
 */
static __always_inline void copy_parts(struct slow *slow, const struct why_call *state)
{
	__u64 after;

	for (int part = 0; part < WHY_MEMLAT_PARTS; part++)
		slow->part_ns[part] = state->part_ns[part];
	slow->state = state;
	slow->holder_ns = state->holder_ns;
	slow->server_ns = state->server_ns;
	if (state->since_ns)
		add_span(slow->part_ns, state, slow->end_ns);
	if (state->in_ns > slow->end_ns && state->off_part == WHY_MEMLAT_RUNNABLE) {
		after = state->off_ns;
		if (after > slow->part_ns[WHY_MEMLAT_RUNNABLE])
			after = slow->part_ns[WHY_MEMLAT_RUNNABLE];
		slow->part_ns[WHY_MEMLAT_RUNNABLE] -= after;
	}
}

/* Time on a CPU is what is left; no part is longer than what the others leave of the fault. */
static __always_inline void complete_parts(struct slow *slow)
{
	__u64 left = slow->ns;

	for (int part = 0; part < WHY_MEMLAT_PARTS; part++) {
		if (part == WHY_MEMLAT_CPU)
			continue;
		if (slow->part_ns[part] > left)
			slow->part_ns[part] = left;
		left -= slow->part_ns[part];
	}
	slow->part_ns[WHY_MEMLAT_CPU] = left;
	if (slow->holder_ns > slow->part_ns[WHY_MEMLAT_LOCK])
		slow->holder_ns = slow->part_ns[WHY_MEMLAT_LOCK];
	if (slow->server_ns > slow->part_ns[WHY_MEMLAT_BLOCKED])
		slow->server_ns = slow->part_ns[WHY_MEMLAT_BLOCKED];
}

static __always_inline void divide(struct slow *slow, struct vm_area_struct *vma)
{
	const struct why_call *state = find_state(slow);

	if (slow->start_ns < why_attached_ns || slow->not_followed) {
		slow->part_ns[WHY_MEMLAT_UNKNOWN] = slow->ns;
		return;
	}
	if (state)
		copy_parts(slow, state);
	complete_parts(slow);
	if (!slow->part_ns[WHY_MEMLAT_IO])
		return;
	if (state && state->swap_disk)
		slow->backing.disk.id = state->swap_disk;
	else if (vma)
		find_backing(&slow->backing, vma);
	else if (slow->own_memory &&
		 bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		bpf_find_vma(bpf_get_current_task_btf(), slow->address, backing_of, &slow->backing,
			     0);
	if (slow->backing.no_disk) {
		slow->part_ns[WHY_MEMLAT_BLOCKED] += slow->part_ns[WHY_MEMLAT_IO];
		slow->part_ns[WHY_MEMLAT_IO] = 0;
	}
}

static __always_inline void copy_stacks(struct why_event *event, const struct slow *slow,
					struct task_struct *task)
{
	struct why_stack *stack = stack_of(event->tid);

	event->stack_tid = event->tid;
	event->stack_tgid = event->tgid;
	event->user_size = bpf_get_task_stack(task, event->user_stack, sizeof(event->user_stack),
					      BPF_F_USER_STACK);
	event->kernel_size = 0;
	if (!stack || !is_stack_of(stack, event->tid, slow->start_ns))
		return;
	if (stack->best) {
		event->kernel_size = stack->size[1];
		__builtin_memcpy(event->kernel_stack, stack->frames[1], sizeof(stack->frames[1]));
	} else {
		event->kernel_size = stack->size[0];
		__builtin_memcpy(event->kernel_stack, stack->frames[0], sizeof(stack->frames[0]));
	}
}

static __always_inline bool send(const struct slow *slow, struct task_struct *task)
{
	struct why_event *event = bpf_ringbuf_reserve(&why_events, sizeof(*event), 0);

	if (!event)
		return false;
	__builtin_memset(event, 0, __builtin_offsetof(struct why_event, kernel_stack));
	event->is_candidate = !slow->counts;
	event->victim = slow->victim;
	event->end_ns = slow->end_ns;
	event->ns = slow->ns;
	for (int part = 0; part < WHY_MEMLAT_PARTS; part++)
		event->part_ns[part] = slow->part_ns[part];
	event->cgroup = task_cgroup(task);
	event->tgid = task->tgid;
	event->tid = task->pid;
	event->cpu = bpf_get_smp_processor_id();
	bpf_probe_read_kernel_str(event->comm, LAT_COMM_LEN, task->comm);
	bpf_probe_read_kernel_str(event->process, LAT_COMM_LEN, leader_comm(task));
	if (slow->backing.disk.id) {
		event->disk = slow->backing.disk.id;
		event->culprits[0].who = slow->backing.disk;
		event->culprits[0].ns = slow->part_ns[WHY_MEMLAT_IO];
		event->culprits[0].part = WHY_MEMLAT_IO;
	}
	if (slow->state && slow->holder_ns) {
		event->culprits[1].who = slow->state->holder;
		event->culprits[1].ns = slow->holder_ns;
		event->culprits[1].part = WHY_MEMLAT_LOCK;
	}
	if (slow->state && slow->server_ns) {
		event->culprits[2].who = slow->state->server;
		event->culprits[2].ns = slow->server_ns;
		event->culprits[2].part = WHY_MEMLAT_BLOCKED;
	}
	copy_stacks(event, slow, task);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return true;
}

/* Adds a slow fault. Was an event sent? Not inlined: it is the rare case. */
static __noinline int explain(struct slow *slow, struct vm_area_struct *vma)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct why_cell *cell;
	/* On the stack: the verifier lets no global function take a pointer to constants. */
	struct why_who none = {}, *culprit;
	bool sent;

	if (is_latscope(task)) {
		why_begin_own(slow->ns);
		return 0;
	}
	cell = why_begin(slow->ns, &slow->counts);
	if (!cell)
		return 0;
	divide(slow, vma);
	why_describe(&slow->victim, task);
#pragma clang loop unroll(disable)
	for (__u32 part = 0; part < WHY_MEMLAT_PARTS; part++) {
		__u64 ns = slow->part_ns[part];

		culprit = part == WHY_MEMLAT_IO ? &slow->backing.disk : &none;
		if (part == WHY_MEMLAT_LOCK)
			ns -= slow->holder_ns;
		if (part == WHY_MEMLAT_BLOCKED)
			ns -= slow->server_ns;
		if (slow->counts)
			why_add(cell, &slow->victim, culprit, part, ns);
	}
	if (slow->counts && slow->state)
		why_add(cell, &slow->victim, &slow->state->holder, WHY_MEMLAT_LOCK,
			slow->holder_ns);
	if (slow->counts && slow->state)
		why_add(cell, &slow->victim, &slow->state->server, WHY_MEMLAT_BLOCKED,
			slow->server_ns);
	if (slow->counts && slow->ns < why_control.event_ns)
		return 0;
	sent = send(slow, task);
	__sync_fetch_and_add(sent ? &cell->sent : &cell->dropped, 1);
	return sent;
}

/*
 * Uses the result: else the compiler lets the function return what happens to be in the register, a
 * pointer to the stack, which the verifier refuses.
 */
static __always_inline void explain_slow(struct slow *slow, struct vm_area_struct *vma)
{
	int sent = explain(slow, vma);

	barrier_var(sent);
}

#endif
