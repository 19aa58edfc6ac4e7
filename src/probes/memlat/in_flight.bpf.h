/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults that began before the attach, and those that are in flight when the window has closed. */
#ifndef LATSCOPE_PROBES_MEMLAT_IN_FLIGHT_BPF_H
#define LATSCOPE_PROBES_MEMLAT_IN_FLIGHT_BPF_H

#include "calls.bpf.h"

/*
 * For faults in progress at the attach: see mark(). User space sets the code ranges. It sets
 * `exception` only for the method perf-event, which sees only faults of exceptions.
 */
struct memlat_code handler = {}, exception = {};
__u64 attached_ns = 0;
__u32 stacks = 0; /* number of stacks that could be read */
/* Of the current task of an iterator. */
struct {
	__u64 frames[MEMLAT_FRAMES];
	__u32 calls; /* of the handler */
	__u32 known; /* calls in progress with a known start */
	__u32 within; /* a handler was found, its exception not yet */
} stack = {};

static __always_inline bool is_in(const struct memlat_code *code, __u64 address)
{
	return address >= code->start && address < code->end;
}

/*
 * Counts a frame of the handler; with `exception`, a frame of an exception that called the handler.
 * Global, so that the verifier checks it once and not for each frame and each path.
 */
__noinline int count_frame(__u32 at)
{
	__u64 frame;

	if (at >= MEMLAT_FRAMES)
		return 0;
	frame = stack.frames[at];
	if (is_in(&handler, frame)) {
		stack.within = 1;
		stack.calls += !exception.end;
	} else if (stack.within && is_in(&exception, frame)) {
		stack.within = 0;
		stack.calls++;
	}
	return 0;
}

/* Counts the calls on the stack of a task. The task must not run during this. */
static __always_inline void count_calls(struct task_struct *task)
{
	long size = bpf_get_task_stack(task, stack.frames, sizeof(stack.frames), 0);

	stack.calls = 0;
	stack.within = 0;
	if (size > 0)
		stacks++;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MEMLAT_FRAMES && (long)(i * sizeof(__u64)) < size; i++)
		count_frame(i);
}

/* perf-event: the start of the fault in progress; 0: there is none. The task may run meanwhile. */
static __always_inline __u64 event_started(struct task_struct *task)
{
	struct memlat_call *call = event_find(task, event_id(task->pid));

	return call ? *(volatile __u64 *)&call->start_ns : 0;
}

static __always_inline void count_known(struct task_struct *task)
{
	__u32 tid = task->pid, place = first_place(tid);

	stack.known = 0;
	if (exception.end) {
		stack.known = event_started(task) != 0;
		return;
	}
#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct memlat_call *call = place_at(place + i);

		if (id_tid(call->id) == tid && !call->pending && !is_entry(call->id))
			stack.known++;
	}
}

/*
 * Counts the calls in progress of a task without a known start. Returns 0 if the task runs, because
 * its stack cannot be read. Returns 0 also if it ran meanwhile, because then the two counts do not
 * match.
 */
static __always_inline __u32 calls_unseen(struct task_struct *task)
{
	__u64 switches = task_switches(task);

	if (task_runs(task))
		return 0;
	count_known(task);
	count_calls(task);
	barrier();
	if (task_runs(task) || task_switches(task) != switches)
		return 0;
	return stack.calls > stack.known ? stack.calls - stack.known : 0;
}

/* What find_code() finds. */
struct {
	char name[MEMLAT_SYMBOL]; /* of a function; set by user space */
	__u64 start;
	char text[MEMLAT_SYMBOL]; /* "name+0x0/0x310": with its size */
} symbol = {};

/*
 * Finds the code of a function. /proc/kallsyms tells the same, but writing out and reading its text
 * takes 50 ms.
 */
SEC("syscall")
int find_code(void *context)
{
	__u64 start = 0;

	if (bpf_kallsyms_lookup_name(symbol.name, sizeof(symbol.name), 0, &start))
		return 0;
	bpf_snprintf(symbol.text, sizeof(symbol.text), "%pS", &start, sizeof(start));
	symbol.start = start;
	return 0;
}

/*
 * Runs once, after the attach. No program saw the entry of a fault that is in progress; the stack
 * of the task shows it. fentry and kprobe do not see its end either.
 */
SEC("iter/task")
int mark(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct memlat_task *own;
	__u32 calls;

	if (!task)
		return 0;
	calls = calls_unseen(task);
	if (!calls)
		return 0;
	own = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (own) {
		own->before = calls;
		__sync_fetch_and_add(&others.marked, 1);
	}
	return 0;
}

/* The start of the oldest call of a task; 0: it has none. */
static __always_inline __u64 call_started(struct task_struct *task)
{
	__u32 tid = task->pid, place = first_place(tid);
	__u64 oldest = 0, start_ns;

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct memlat_call *call = place_at(place + i);

		start_ns = *(volatile __u64 *)&call->start_ns;
		if (id_tid(call->id) != tid || is_entry(call->id) || !start_ns ||
		    !cpu_wanted(&config, call->cpu))
			continue;
		if (!oldest || start_ns < oldest)
			oldest = start_ns;
	}
	return oldest;
}

static __always_inline void count_unseen(struct task_struct *task, const struct memlat_task *own,
					 __u64 now)
{
	__u32 calls = calls_unseen(task);

	if (calls > own->before) /* the entry of a later one was missed */
		calls = own->before;
	count_in_flight_before(&waits_in_flight, calls, attached_ns, now);
	if (calls)
		note_oldest(&oldest_in_flight, now - attached_ns, task);
}

/* Does the filter leave out the CPU of the fault in progress, with perf-event? */
static __always_inline bool event_elsewhere(struct task_struct *task)
{
	struct memlat_call *call = config.cpus ? event_find(task, event_id(task->pid)) : NULL;

	return call && !cpu_wanted(&config, call->cpu);
}

SEC("iter/task")
int in_flight(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 start_ns, now = bpf_ktime_get_ns();
	struct memlat_task *own;

	if (!task)
		return 0;
	start_ns = event_elsewhere(task) ? 0 : event_started(task);
	if (start_ns)
		count_in_flight(&waits_in_flight, start_ns, now);
	else
		start_ns = call_started(task);
	if (start_ns && start_ns < now)
		note_oldest(&oldest_in_flight, now - start_ns, task);
	own = bpf_task_storage_get(&tasks, task, NULL, 0);
	/* It is not known where one that began before the attach was taken. */
	if (own && own->before && !config.cpus && task_wanted(&config, task))
		count_unseen(task, own, now);
	return 0;
}

#endif
