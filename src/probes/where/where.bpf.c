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
 *   switched, of next  gets a CPU                       READY to CPU
 *   woken, woken_new   wakes up                         woken_ns: READY from then on
 *   waits_for_lock     waits for a lock of the kernel   the next sleep is LOCK
 *   any of them        is in another state than this    UNKNOWN, for the time since the last
 *                      change can begin in              change: a switch was not seen
 */
#include <probes/kit/filter.bpf.h>

const volatile struct lat_config config = {}; /* the filters: whose accounts are read */

#include <probes/kit/account.bpf.h>

#include "types.h"

/* ---- its beginning ---- */

/* Makes the entry of a thread; false: another thread has its line. */
static __always_inline struct where_thread *make_entry(const struct where_control *control,
						       struct task_struct *task)
{
	struct where_thread *line = account_line(control, task->pid);
	__u64 old;

	if (!line)
		return NULL;
	old = __sync_val_compare_and_swap(&line->task, 0, (__u64)task);
	/* If it is there already, another task left it, whose end no program saw. */
	if (!old || old == (__u64)task)
		return line;
	return bpf_task_storage_get(&accounts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void begin(const struct where_control *control, struct where_thread *own,
				  struct task_struct *task, __u32 state, __u64 now)
{
	own->tid = 0;
	own->state = state;
	own->inherits = 0;
	own->since_ns = now;
	own->woken_ns = 0;
	own->begin_ns = now;
	own->lock = 0;
	own->workload = 0;
	own->pass = control->pass;
	own->cgroup = control->by == LAT_BY_CGROUP ? task_cgroup(task) : 0;
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
	struct where_control *control = account_control();
	struct where_thread *own = control ? make_entry(control, task) : NULL, *of_parent;

	if (!own)
		return 0;
	own->call = WHERE_NO_CALL;
	begin(control, own, task, WHERE_OTHER, task->start_time);
	if (!control->workload)
		return 0;
	of_parent = account_of(control, parent);
	own->workload =
		(of_parent && of_parent->workload) || (__u32)parent->tgid == control->workload;
	return 0;
}

/* What a task does that exists. */
static __always_inline __u32 state_now(const struct where_control *control,
				       struct where_thread *own, struct task_struct *task)
{
	__u32 state;

	if (task_runs(task))
		return WHERE_CPU;
	if (task_is_active(task))
		return WHERE_READY;
	state = task_state(task);
	return state ? sleep_state(control, own, task, state) : WHERE_READY;
}

/* Programs may change the entry meanwhile: then it is made again. */
SEC("iter/task")
int prime(struct bpf_iter__task *ctx)
{
	struct where_control *control = account_control();
	struct task_struct *task = ctx->task;
	struct where_thread *own;

	if (!control || !task || task_state(task) & TASK_DEAD)
		return 0;
	own = make_entry(control, task);
	if (!own)
		return 0;
	for (int i = 0; i < 4; i++) {
		begin(control, own, task, state_now(control, own, task), bpf_ktime_get_ns());
		if (own->state == state_now(control, own, task))
			break;
	}
	return 0;
}

/* A thread that is not the first one of its process executes a program: it gets that one's ID. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task, int old_tid)
{
	struct where_control *control = account_control();
	struct where_thread *line, *own;

	if (!control || old_tid == task->pid)
		return 0;
	line = account_line(control, old_tid);
	if (!line || line->task != (__u64)task)
		return 0;
	line->inherits = 1;
	own = bpf_task_storage_get(&accounts, task, line, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (own)
		own->tid = task->pid;
	free_line(control, old_tid, task);
	return 0;
}

/* ---- changes, unless another probe has these in its programs: see account_host.h ---- */

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct where_control *control = account_control();

	if (control)
		account_switch(control, prev, next, preempt ? 0 : task_state(prev),
			       bpf_ktime_get_ns(), 0);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *task)
{
	account_woken(task, bpf_ktime_get_ns());
	return 0;
}

/* ---- changes that only this probe sees ---- */

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(woken_new, struct task_struct *task)
{
	struct where_control *control = account_control();

	if (control)
		account_woken(task, bpf_ktime_get_ns() - control->offset_ns);
	return 0;
}

/* ---- locks of the kernel ---- */

SEC("tp_btf/contention_begin")
int BPF_PROG(waits_for_lock, void *lock, unsigned int flags)
{
	struct where_control *control = account_control();
	struct where_thread *own;

	if (!control || flags & LCB_F_SPIN)
		return 0;
	own = account_of(control, bpf_get_current_task_btf());
	if (own)
		own->lock = (__u64)lock;
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(has_lock, void *lock)
{
	struct where_control *control = account_control();
	struct where_thread *own;

	own = control ? account_of(control, bpf_get_current_task_btf()) : NULL;
	if (own && own->lock == (__u64)lock)
		own->lock = 0;
	return 0;
}

/* ---- reading ---- */

struct where_report report = {}; /* the iterator runs once at a time */

static __always_inline bool is_consistent(const struct where_control *control,
					  const struct where_thread *own)
{
	__u64 sum = 0;

#pragma unroll
	for (int i = 0; i < WHERE_STATES; i++)
		sum += own->ns[i];
	return sum == in_window(control, own->begin_ns, own->since_ns);
}

static __always_inline void copy_account(const struct where_control *control,
					 struct where_thread *own)
{
	for (int i = 0; i < 8; i++) {
		report.at_ns = bpf_ktime_get_ns();
		bpf_probe_read_kernel(&report.account, sizeof(report.account), own);
		if (is_consistent(control, &report.account)) {
			if (report.account.woken_ns)
				report.account.woken_ns += control->offset_ns;
			return;
		}
	}
	report.torn = 1;
}

/* The mark comes before the copy: see struct where_key. */
SEC("iter/task")
int read_threads(struct bpf_iter__task *ctx)
{
	struct where_control *control = account_control();
	struct task_struct *task = ctx->task;
	struct where_thread *own;

	if (!control || !task)
		return 0;
	own = account_of(control, task);
	if ((!own && task_state(task) & TASK_DEAD) || !account_wanted(control, task, own))
		return 0;
	report.of = account_key(control, task, own);
	report.start_ns = task->start_time;
	report.cgroup = task_cgroup(task);
	report.kernel.run_ns = task->se.sum_exec_runtime;
	report.kernel.queue_ns = task->sched_info.run_delay;
	report.kernel.user_ns = task->utime;
	report.kernel.system_ns = task->stime;
	report.tgid = task->tgid;
	report.torn = 0;
	account_name(control, report.comm, task);
	report.account.task = 0;
	report.at_ns = bpf_ktime_get_ns();
	if (own) {
		own->cgroup = report.cgroup;
		store_ordered(&own->pass, control->pass);
		copy_account(control, own);
	}
	bpf_seq_write(ctx->meta->seq, &report, sizeof(report));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
