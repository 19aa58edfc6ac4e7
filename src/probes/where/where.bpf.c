// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of threads goes: each thread is in one state at a time, from its start to its
 * end. See enum where_state (types.h) and account.bpf.h.
 *
 * Which program changes the state of a thread:
 *
 *   program            the thread                       its state
 *   prime              exists at the attach             what it does then
 *   began              begins                           OTHER: it is being made
 *   switched, of prev  loses its CPU and stays runnable CPU to READY
 *                      sleeps                           CPU to what it sleeps for
 *                      has ended                        its account is added to `ended`
 *   forgotten          has ended, in a switch that no   the same
 *                      program saw
 *   switched, of next  gets a CPU                       READY to CPU
 *   woken, woken_new   wakes up                         woken_ns: READY from then on, unless the
 *                                                       host has a stamp of the scheduler
 *   waits_for_lock     waits for a lock of the kernel   the next sleep is LOCK
 *   any of them        is in another state than this    UNKNOWN, for the time since the last
 *                      change can begin in              change: a switch was not seen
 */
#include <probes/kit/filter.bpf.h>

const volatile struct lat_config config = {}; /* the filters: whose accounts are read */

#include <probes/kit/account.bpf.h>

#include "types.h"

/* ---- its beginning ---- */

/* Makes the entry of a thread; NULL: there is no memory. */
static __always_inline struct where_thread *make_entry(struct task_struct *task)
{
	struct where_thread *line = account_lines();
	__u64 old;

	if (!line)
		return NULL;
	line += task->pid & line_mask;
	old = __sync_val_compare_and_swap(&line->task, 0, (__u64)task);
	/* If it is there already, another task left it, whose end no program saw. */
	if (!old || old == (__u64)task)
		return line;
	return bpf_task_storage_get(&accounts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void begin(struct where_thread *own, struct task_struct *task, __u32 what,
				  __u64 now)
{
	own->tid = 0;
	own->what = what;
	own->inherits = 0;
	own->since_ns = now;
	own->woken_ns = 0;
	own->begin_ns = now;
	own->lock = 0;
	own->workload = 0;
	own->pass = account.pass;
	own->cgroup = account.by == LAT_BY_CGROUP ? task_cgroup(task) : 0;
#pragma unroll
	for (int i = 0; i < WHERE_STATES; i++)
		own->ns[i] = 0;
#pragma unroll
	for (int i = 0; i < WHERE_SLEEPS; i++)
		own->sleeps[i].what = 0;
	own->task = (__u64)task;
	store_ordered(&own->tid, task->pid);
}

SEC("tp_btf/task_newtask")
int BPF_PROG(began, struct task_struct *task)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct where_thread *own = account.begins ? make_entry(task) : NULL, *of_parent;

	if (!own)
		return 0;
	begin(own, task, WHERE_WHAT(WHERE_OTHER, WHERE_NO_CALL), task->start_time);
	if (!account.workload)
		return 0;
	of_parent = account_of(parent);
	own->workload =
		(of_parent && of_parent->workload) || (__u32)parent->tgid == account.workload;
	return 0;
}

/* What a task does that exists: WHERE_WHAT(). */
static __always_inline __u32 what_now(struct where_thread *own, struct task_struct *task)
{
	__u32 state;

	if (task_runs(task))
		return WHERE_ON_CPU;
	if (task_is_active(task))
		return WHERE_IS_READY;
	state = task_state(task);
	return state ? sleeps_for(own, task, state) : WHERE_IS_READY;
}

/* Programs may change the entry meanwhile: then it is made again. */
SEC("iter/task")
int prime(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct where_thread *own;

	if (!task || task_state(task) & TASK_DEAD)
		return 0;
	own = make_entry(task);
	if (!own)
		return 0;
	for (int i = 0; i < 4; i++) {
		begin(own, task, what_now(own, task), bpf_ktime_get_ns());
		if (own->what == what_now(own, task))
			break;
	}
	return 0;
}

/* A thread that is not the first one of its process executes a program: it gets that one's ID. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task, int old_tid)
{
	struct where_thread *first = account_lines(), *old, *own;

	if (!first || old_tid == task->pid)
		return 0;
	old = account_by(first, task, old_tid);
	if (!old)
		return 0;
	old->inherits = 1;
	own = bpf_task_storage_get(&accounts, task, old, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (own)
		own->tid = task->pid;
	if (own != old)
		free_account(old);
	return 0;
}

/* A thread is forgotten. If it still has an account, no program saw its last switch. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(forgotten, struct task_struct *task)
{
	struct where_thread *own = account_of(task);

	if (!own)
		return 0;
	own->what = WHERE_WHAT(WHERE_UNKNOWN, WHERE_NO_CALL);
	return account_end(task, bpf_ktime_get_ns());
}

/* ---- changes, unless another probe has these in its programs: see account_host.h ---- */

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct where_thread *own = account_of(next);
	__u64 woken = 0;

	if (own) {
		woken = own->woken_ns;
		own->woken_ns = 0;
	}
	account_switch(ctx, preempt ? 0 : task_state(prev), bpf_ktime_get_ns(), woken);
	return 0;
}

/* The sleep is added when the thread gets a CPU, as that program has its entry, too. */
static __always_inline int end_of_sleep(struct task_struct *task)
{
	struct where_thread *own = account_of(task);
	__u64 now = bpf_ktime_get_ns();

	if (!own || own->what == WHERE_IS_READY || own->woken_ns)
		return 0;
	if (own->what != WHERE_ON_CPU)
		own->woken_ns = now;
	/* On its way to sleep it goes on; else it slept, and no program saw it. */
	else if (bpf_core_field_exists(task->on_cpu) && !task_runs(task))
		turn_unknown(own, WHERE_IS_READY, now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *task)
{
	return end_of_sleep(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(woken_new, struct task_struct *task)
{
	return end_of_sleep(task);
}

/* ---- locks of the kernel ---- */

SEC("tp_btf/contention_begin")
int BPF_PROG(waits_for_lock, void *lock, unsigned int flags)
{
	struct where_thread *own;

	if (flags & LCB_F_SPIN)
		return 0;
	own = account_of(bpf_get_current_task_btf());
	/* Without flags: a semaphore, or a spin lock. A task can spin while it waits for a lock. */
	if (own && (flags || !own->lock))
		own->lock = (__u64)lock;
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(has_lock, void *lock)
{
	struct where_thread *own = account_of(bpf_get_current_task_btf());

	if (own && own->lock == (__u64)lock)
		own->lock = 0;
	return 0;
}

/* ---- reading ---- */

struct where_report report = {}; /* the iterator runs once at a time */

static __always_inline bool is_consistent(const struct where_thread *own)
{
	__u64 sum = 0;

#pragma unroll
	for (int i = 0; i < WHERE_STATES; i++)
		sum += own->ns[i];
	return sum == in_window(own->begin_ns, own->since_ns);
}

/* If stamps of the scheduler say when sleeps end: has that of a thread ended? Else as it was. */
static __always_inline void read_stamp(struct task_struct *task, const struct where_thread *own)
{
	__u64 since = report.account.since_ns, at = report.at_ns, woken;

	woken = *(const volatile __u64 *)&task->sched_info.last_queued;
	if (!account.offset_ns || !woken || !WHERE_IS_SLEEP(report.account.what) ||
	    !task_is_active(task) || *(const volatile __u64 *)&own->since_ns != since)
		return;
	woken += account.offset_ns;
	if ((__s64)(woken - since) < 0)
		woken = since;
	report.account.woken_ns = (__s64)(woken - at) > 0 ? at : woken;
}

static __always_inline void copy_account(struct task_struct *task, const struct where_thread *own)
{
	for (int i = 0; i < 8; i++) {
		report.at_ns = bpf_ktime_get_ns();
		bpf_probe_read_kernel(&report.account, sizeof(report.account), own);
#pragma unroll
		for (int j = 0; j < WHERE_SLEEPS; j++)
			give_state(report.account.ns, &report.account.sleeps[j]);
		if (is_consistent(&report.account)) {
			read_stamp(task, own);
			return;
		}
	}
	report.torn = 1;
}

/* The mark comes before the copy: see struct where_key. */
SEC("iter/task")
int read_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct where_thread *own;

	if (!task)
		return 0;
	own = account_of(task);
	if ((!own && task_state(task) & TASK_DEAD) || !account_wanted(task, own))
		return 0;
	report.of = account_key(task, own);
	report.start_ns = task->start_time;
	report.cgroup = task_cgroup(task);
	report.kernel = (struct where_witness){ 0 };
	add_witness(&report.kernel, task);
	report.tgid = task->tgid;
	report.torn = 0;
	account_name(report.comm, task);
	report.account.task = 0;
	report.at_ns = bpf_ktime_get_ns();
	if (own) {
		own->cgroup = report.cgroup;
		store_ordered(&own->pass, account.pass);
		copy_account(task, own);
		if (task_state(task) & TASK_DEAD && !task_runs(task))
			report.account.what = WHERE_WHAT(WHERE_UNKNOWN, WHERE_NO_CALL);
	}
	bpf_seq_write(ctx->meta->seq, &report, sizeof(report));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
