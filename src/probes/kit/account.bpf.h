/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The account of each thread: how long it was in which state within the window. A thread is in one
 * state at a time, so the parts sum to its life. The probe where reads it. Its programs at the
 * scheduler's tracepoints are either those of where or, since each program at a switch costs, part
 * of the programs of a probe that is there anyway: see account_host.h.
 *
 * Maps are defined here, so only one file of an object may include this. The includer defines
 * `config`: the filters say whose accounts are read.
 *
 * All changes but those of `lock` are made under the lock of the thread's run queue.
 */
#ifndef LATSCOPE_PROBES_KIT_ACCOUNT_BPF_H
#define LATSCOPE_PROBES_KIT_ACCOUNT_BPF_H

#include "filter.bpf.h"

#include <latscope/why.h>

#include "account_types.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct where_control);
} account SEC(".maps");

/* Much cheaper than task storage. User space sets the number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct where_thread);
} lines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct where_thread);
} accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WHERE_ENDED);
	__type(key, struct where_key);
	__type(value, struct where_ended);
} ended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct where_sleep_key);
	__type(value, struct where_sleep);
} sleeps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} long_parts SEC(".maps");

static __always_inline struct where_control *account_control(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&account, &only);
}

/* ---- entries ---- */

static __always_inline struct where_thread *account_line(const struct where_control *control,
							 __u32 tid)
{
	__u32 index = tid & control->line_mask;

	return bpf_map_lookup_elem(&lines, &index);
}

static __always_inline struct where_thread *account_of(const struct where_control *control,
						       struct task_struct *task)
{
	struct where_thread *line = account_line(control, task->pid);

	if (line && line->task == (__u64)task)
		return line;
	return bpf_task_storage_get(&accounts, task, NULL, 0);
}

/*
 * The key of what leaves the account of a thread: see struct where_key. One that moves to another
 * cgroup is in the old one until it is read.
 */
static __always_inline struct where_key account_key(const struct where_control *control,
						    struct task_struct *task,
						    const struct where_thread *own)
{
	__u32 pass = control->pass, by = control->by;
	struct where_key key = { .pass = own && own->pass != pass ? pass - 1 : pass };

	if (by == LAT_BY_CGROUP) {
		key.start = task_cgroup(task);
		if (own) /* volatile: the verifier refuses one load for both */
			key.start = *(const volatile __u64 *)&own->cgroup;
	} else if (by == LAT_BY_THREAD) {
		key.start = task->start_time;
		key.id = task->pid;
	} else {
		key.start = task->group_leader->start_time;
		key.id = task->tgid;
	}
	return key;
}

static __always_inline void account_name(const struct where_control *control,
					 char comm[LAT_COMM_LEN], struct task_struct *task)
{
	if (control->by == LAT_BY_THREAD)
		bpf_probe_read_kernel_str(comm, LAT_COMM_LEN, task->comm);
	else
		bpf_probe_read_kernel_str(comm, LAT_COMM_LEN, task->group_leader->comm);
}

/* Is the account of the task asked for? */
static __always_inline bool account_wanted(const struct where_control *control,
					   struct task_struct *task, const struct where_thread *own)
{
	__u32 workload = control->workload;

	if (workload && (__u32)task->tgid != workload && !(own && own->workload))
		return false;
	return task_wanted(&config, task);
}

/* ---- time ---- */

/* The part of a time that is within the window. */
static __always_inline __u64 in_window(const struct where_control *control, __u64 from, __u64 to)
{
	__u64 opened = control->opened_ns, closed = control->closed_ns;

	if (from < opened)
		from = opened;
	if (to > closed)
		to = closed;
	return to > from ? to - from : 0;
}

/* Keeps a sleep for which the entry of its thread has no room. */
static __noinline int keep_sleep(struct where_control *control, struct task_struct *task,
				 const struct where_thread *own, const struct where_sleep *from)
{
	struct where_sleep_key key = { .of = account_key(control, task, own), .what = from->what };
	struct where_sleep fresh = { .what = from->what }, *sleep;

	sleep = bpf_map_lookup_elem(&sleeps, &key);
	if (!sleep) {
		bpf_map_update_elem(&sleeps, &key, &fresh, BPF_NOEXIST);
		sleep = bpf_map_lookup_elem(&sleeps, &key);
	}
	if (!sleep) {
		__sync_fetch_and_add(&control->lost_sleeps, from->times);
		return 0;
	}
	__sync_fetch_and_add(&sleep->times, from->times);
	__sync_fetch_and_add(&sleep->ns, from->ns);
	return 0;
}

/* A reason for which the thread has not slept before. The last one gives way. */
static __noinline int add_reason(struct where_control *control, struct task_struct *task,
				 struct where_thread *own, __u64 ns)
{
	struct where_sleep *sleep = own->sleeps;

#pragma unroll
	for (int i = 1; i < WHERE_SLEEPS; i++)
		if (sleep->what)
			sleep = &own->sleeps[i];
	if (sleep->what)
		keep_sleep(control, task, own, sleep);
	sleep->what = WHERE_WHAT(own->state, own->call);
	sleep->times = 1;
	sleep->ns = ns;
	return 0;
}

static __always_inline void add_sleep(struct where_control *control, struct task_struct *task,
				      struct where_thread *own, __u64 ns)
{
	__u32 what = WHERE_WHAT(own->state, own->call);

#pragma unroll
	for (int i = 0; i < WHERE_SLEEPS; i++) {
		struct where_sleep *sleep = &own->sleeps[i];

		if (sleep->what == what) {
			sleep->times++;
			sleep->ns += ns;
			return;
		}
	}
	add_reason(control, task, own, ns);
}

/* Ends a part, and begins the next one. */
static __always_inline void turn(const struct where_control *control, struct where_thread *own,
				 __u32 to, __u64 now)
{
	__u32 state = own->state;

	if (state < WHERE_STATES)
		own->ns[state] += in_window(control, own->since_ns, now);
	own->since_ns = now;
	own->state = to;
}

/* The same of a part that cannot have been what it seemed to be. */
static __noinline int turn_unknown(struct where_control *control, struct where_thread *own,
				   __u32 to, __u64 now)
{
	own->state = WHERE_UNKNOWN;
	turn(control, own, to, now);
	if (now > control->opened_ns)
		__sync_fetch_and_add(&control->hidden, 1);
	return 0;
}

/* ---- what a thread sleeps for ---- */

/* Is the system call one of the 32-bit table? */
static __always_inline bool is_32_bit(struct task_struct *task, struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status & TS_COMPAT;
#else
	return regs->pstate & PSR_MODE32_BIT;
#endif
}

static __always_inline __s64 call_number(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return (__s64)regs->orig_ax;
#else
	return regs->syscallno;
#endif
}

static __always_inline __u32 state_in_call(const struct where_control *control,
					   struct where_thread *own, struct task_struct *task,
					   __u32 state)
{
	struct pt_regs *regs;
	__u64 number;
	__u32 kind;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return WHERE_OTHER;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	number = (__u64)call_number(regs);
	if (number == (__u64)-1) {
		own->call = WHERE_IN_FAULT;
		return WHERE_FAULT;
	}
	if (number >= WHERE_CALLS)
		return WHERE_OTHER; /* x32, too: its numbers have a high bit */
	own->call = number;
	kind = control->call_states[number];
	if (is_32_bit(task, regs)) {
		own->call |= WHERE_CALL_32;
		kind = control->call_states_32[number];
	}
	if (kind == WHERE_STREAM)
		return state & TASK_INTERRUPTIBLE ? WHERE_SOCKET : WHERE_OTHER;
	return kind;
}

static __always_inline __u32 state_of_kernel_thread(__u32 state)
{
	if (state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD))
		return WHERE_OTHER;
	return WHERE_WORK;
}

/* The task loses its CPU, and sleeps: for what? */
static __always_inline __u32 sleep_state(const struct where_control *control,
					 struct where_thread *own, struct task_struct *task,
					 __u32 state)
{
	__u32 in_call;

	own->call = WHERE_NO_CALL;
	if (!(task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)))
		in_call = state_in_call(control, own, task, state);
	else
		in_call = state_of_kernel_thread(state);
	if (own->lock)
		return WHERE_LOCK;
	if (state & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN) || task_frozen(task))
		return WHERE_STOPPED;
	if (task_waits_for_io(task))
		return WHERE_DISK;
	if (task_waits_for_memory(task))
		return WHERE_MEMORY;
	return in_call;
}

/* ---- long parts ---- */

static __always_inline bool is_long(const struct where_control *control,
				    const struct where_thread *own, __u64 now)
{
	__u64 over = control->over_ns;

	return over && now - own->since_ns >= over && own->since_ns >= control->opened_ns;
}

/* The part that ends now. NULL: no room. The caller submits it; no wakeup, since a lock is held. */
static __always_inline struct where_part *begin_part(struct where_control *control,
						     struct task_struct *task,
						     const struct where_thread *own, __u64 now)
{
	struct where_part *part = bpf_ringbuf_reserve(&long_parts, sizeof(*part), 0);

	if (!part) {
		__sync_fetch_and_add(&control->dropped, 1);
		return NULL;
	}
	part->begin_ns = own->since_ns;
	part->end_ns = now;
	part->what = WHERE_WHAT(own->state, own->call);
	part->tid = task->pid;
	part->tgid = task->tgid;
	part->waker_tid = part->waker_tgid = part->waker_source = 0;
	part->stack_size = 0;
	part->wanted = account_wanted(control, task, own);
	__builtin_memset(part->waker_comm, 0, sizeof(part->waker_comm));
	bpf_probe_read_kernel_str(part->comm, sizeof(part->comm), task->comm);
	return part;
}

/* A wait for a CPU, or a time on one. */
static __noinline int send_part(struct where_control *control, struct task_struct *task,
				struct where_thread *own, __u64 now)
{
	struct where_part *part;

	own->call = WHERE_NO_CALL;
	part = begin_part(control, task, own, now);
	if (part)
		bpf_ringbuf_submit(part, BPF_RB_NO_WAKEUP);
	return 0;
}

/* ---- its end ---- */

static __always_inline void add_witness(struct where_witness *to, struct task_struct *task)
{
	__sync_fetch_and_add(&to->run_ns, task->se.sum_exec_runtime);
	__sync_fetch_and_add(&to->queue_ns, task->sched_info.run_delay);
	__sync_fetch_and_add(&to->user_ns, task->utime);
	__sync_fetch_and_add(&to->system_ns, task->stime);
}

static __always_inline struct where_ended *
ended_of(struct where_control *control, struct task_struct *task, const struct where_thread *own)
{
	struct where_key key = account_key(control, task, own);
	struct where_ended fresh = {}, *found = bpf_map_lookup_elem(&ended, &key);

	if (found)
		return found;
	__sync_fetch_and_add(&control->ended, 1);
	bpf_map_update_elem(&ended, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&ended, &key);
}

static __always_inline void keep_parts(struct where_control *control, struct where_ended *to,
				       struct task_struct *task, struct where_thread *own)
{
#pragma unroll
	for (int i = 0; i < WHERE_STATES; i++)
		if (own->ns[i])
			__sync_fetch_and_add(&to->ns[i], own->ns[i]);
	for (int i = 0; i < WHERE_SLEEPS && own->sleeps[i].what; i++)
		keep_sleep(control, task, own, &own->sleeps[i]);
}

static __always_inline void free_line(const struct where_control *control, __u32 tid,
				      struct task_struct *task)
{
	struct where_thread *line = account_line(control, tid);

	if (!line || line->task != (__u64)task)
		return;
	store_ordered(&line->tid, 0);
	store_ordered(&line->task, 0);
}

/* It has lost its CPU for the last time. Without an account, its life is unknown. */
static __noinline int account_end(struct where_control *control, struct task_struct *task,
				  __u64 now)
{
	struct where_thread *own = account_of(control, task);
	__u64 life, begin = task->start_time;
	struct where_ended *sum;

	if (own) {
		if (own->state == WHERE_CPU)
			turn(control, own, WHERE_UNKNOWN, now);
		else
			turn_unknown(control, own, WHERE_UNKNOWN, now);
		if (own->inherits)
			begin = own->begin_ns;
	}
	life = in_window(control, begin, now);
	if (!life || !account_wanted(control, task, own))
		goto free;
	sum = ended_of(control, task, own);
	if (sum) {
		if (own)
			keep_parts(control, sum, task, own);
		else
			__sync_fetch_and_add(&sum->ns[WHERE_UNKNOWN], life);
		__sync_fetch_and_add(&sum->life_ns, life);
		__sync_fetch_and_add(&sum->threads, 1);
		add_witness(&sum->kernel, task);
		sum->cgroup = task_cgroup(task);
		sum->tgid = task->tgid;
		account_name(control, sum->comm, task);
	} else {
		__sync_fetch_and_add(&control->lost_ends, 1);
		__sync_fetch_and_add(&control->lost_ns, life);
	}
free:
	free_line(control, task->pid, task);
	free_line(control, task->tgid, task);
	return 0;
}

/* ---- what happens to a thread ---- */

/* It loses its CPU. `state`: 0 if it stays runnable. */
static __always_inline void account_out(struct where_control *control, struct task_struct *task,
					__u32 state, __u64 now)
{
	struct where_thread *own = account_of(control, task);
	__u32 to;

	if (!own)
		return;
	if (own->state == WHERE_CPU && is_long(control, own, now))
		send_part(control, task, own, now);
	to = state ? sleep_state(control, own, task, state) : WHERE_READY;
	own->woken_ns = 0;
	if (own->state == WHERE_CPU)
		turn(control, own, to, now);
	else
		turn_unknown(control, own, to, now);
}

/* A sleep ended when it was woken up. */
static __always_inline void end_sleep(struct where_control *control, struct task_struct *task,
				      struct where_thread *own, __u64 now, __u64 offset)
{
	__u64 woken_ns = own->woken_ns + offset, ns;

	if ((__s64)(woken_ns - own->since_ns) < 0) /* two clocks */
		woken_ns = own->since_ns;
	if ((__s64)(now - woken_ns) < 0)
		woken_ns = now;
	ns = in_window(control, own->since_ns, woken_ns);
	own->woken_ns = 0;
	if (ns)
		add_sleep(control, task, own, ns);
	turn(control, own, WHERE_READY, woken_ns);
}

/* It gets a CPU. */
static __always_inline void account_in(struct where_control *control, struct task_struct *task,
				       __u64 now, __u64 offset)
{
	struct where_thread *own = account_of(control, task);

	if (!own)
		return;
	if (own->woken_ns)
		end_sleep(control, task, own, now, offset);
	if (own->state != WHERE_READY) {
		turn_unknown(control, own, WHERE_CPU, now);
		return;
	}
	if (is_long(control, own, now))
		send_part(control, task, own, now);
	turn(control, own, WHERE_CPU, now);
}

/* ---- what the includer's programs call ---- */

#ifdef LATSCOPE_FAULTS
__u64 nr_switches;

/* The fault that tests inject: each thousandth switch is not seen. */
static __always_inline bool misses_switch(void)
{
	return __sync_fetch_and_add(&nr_switches, 1) % 1000 == 999;
}
#else
#define misses_switch() false
#endif

/*
 * At sched_switch; `state` of prev: 0 if it stays runnable. `offset` is what `now` is more than the
 * clock of account_woken().
 */
static __always_inline void account_switch(struct where_control *control, struct task_struct *prev,
					   struct task_struct *next, __u32 state, __u64 now,
					   __u64 offset)
{
	if (misses_switch())
		return;
	if (state & TASK_DEAD)
		account_end(control, prev, now);
	else if (prev->pid)
		account_out(control, prev, state, now);
	if (next->pid)
		account_in(control, next, now, offset);
}

/*
 * At sched_wakeup: the thread became runnable at `at`. The sleep is added when it gets a CPU, as
 * that program has its entry, too.
 */
static __always_inline void account_woken(struct task_struct *task, __u64 at)
{
	struct where_control *control = account_control();
	struct where_thread *own = control ? account_of(control, task) : NULL;

	if (!own || own->state == WHERE_READY || own->woken_ns)
		return;
	if (own->state != WHERE_CPU)
		own->woken_ns = at;
	/* On its way to sleep it goes on; else it slept, and no program saw it. */
	else if (bpf_core_field_exists(task->on_cpu) && !task_runs(task))
		turn_unknown(control, own, WHERE_READY, bpf_ktime_get_ns());
}

#endif
