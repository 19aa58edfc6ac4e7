// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run-queue latency: from runnable to running.
 *
 * Three rungs, of which user space loads one:
 *   stamps  the scheduler's own stamps, read where the wait ends. sched_info.last_queued is when
 *           the task was enqueued, on the run queue's clock. A task that migrates while it waits
 *           has the first part of its wait moved into run_delay, so run_delay as of the last
 *           switch-in is kept and the difference added: the samples of a task sum to its growth
 *           of run_delay, to the nanosecond.
 *   tp_btf  wakeup to switch by our own clock, the start in task storage.
 *   raw_tp  the same with a hash, for kernels that have no task storage here (before 5.13).
 *
 * All of sched_switch runs under the run-queue lock, so nothing is allocated there: task storage is
 * made by the iterator for the tasks that exist and at task_newtask for those to come.
 */
#include "filter.bpf.h"
#include "sample.bpf.h"

const volatile struct lat_knobs knobs = {};
struct lat_control control = {};
struct lat_open open_waits = {};

CELLS_MAP(1) cells SEC(".maps");
struct keys_map keys SEC(".maps");
struct rows_map rows SEC(".maps");
struct light_map light SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct runqlat_task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, __u64);
} start_ts SEC(".maps");

/* The wait of `task` ended: count it. `cell` is this CPU's. */
static __always_inline void record(struct lat_cell *cell, struct task_struct *task, bool raw,
				   __u64 ns)
{
	const struct split split = { &keys, &rows, &light, &control, &knobs };

	if (!knobs.by) {
		hist_add(&cell->hist, ns, knobs.tail_ns);
		return;
	}
	if (!tell(&knobs, &control, 0, cell, &ns))
		return;
	hist_add(&cell->hist, ns, knobs.tail_ns);
	split_by_task(&split, cell, task, raw, ns);
}

/*
 * Cell in which the switch to `next`, after a wait of `ns` (0: not known), is to be counted; NULL:
 * it is not to be.
 */
static __always_inline struct lat_cell *seen(struct task_struct *next, bool raw, __u64 ns)
{
	struct lat_cell *cell;

	if (!control.armed)
		return NULL;
	cell = cells_here(&cells);
	if (!cell)
		return NULL;
	cell->counts[LAT_SEEN]++;
	if (filter_by_task(&knobs) && !task_wanted(&knobs, next, raw)) {
		cell->counts[LAT_FILTERED]++;
		if ((__s64)ns > 0)
			cell->counts[LAT_FILTERED_NS] += ns;
		return NULL;
	}
	return cell;
}

/* Of a switch that ends no wait. */
static __always_inline int count_switch(enum lat_count which)
{
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;

	if (cell)
		cell->counts[which]++;
	return 0;
}

/* ---- stamps ---- */

static __always_inline __u64 queue_clock(struct task_struct *task)
{
	return task->se.cfs_rq->rq->clock;
}

/* Wait of a task that only we stamped; what the kernel does not know of it is summed apart. */
static __always_inline __u64 longer_wait(struct lat_cell *cell, __u64 wait, __u64 start, __u64 now)
{
	cell->counts[LAT_FALLBACK]++;
	if (now < start || now - start <= wait)
		return wait;
	cell->counts[LAT_FALLBACK_NS] += now - start - wait;
	return now - start;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(stamps_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now, queued, total, arrivals, preempted = 0, wait = 0, unseen = 0;
	__u32 moved = 0;
	struct runqlat_task *own;
	struct lat_cell *cell;

	/*
	 * Preempted between setting its state and calling schedule(): still queued, yet the kernel
	 * stamps only those that are TASK_RUNNING. The stamp has to be ours.
	 */
	if (preempt && task_state(prev, false) && prev->pid) {
		count_switch(LAT_UNSTAMPED);
		own = bpf_task_storage_get(&tasks, prev, NULL, 0);
		if (own)
			own->queued_ns = queue_clock(prev);
	}
	if (!next->pid)
		return count_switch(LAT_IDLE);

	own = bpf_task_storage_get(&tasks, next, NULL, 0);
	queued = next->sched_info.last_queued;
	total = next->sched_info.run_delay;
	arrivals = next->sched_info.pcount;
	now = queue_clock(next);
	if (queued && now > queued)
		wait = now - queued; /* the kernel adds exactly this right after us */
	total += wait;

	if (own) {
		wait = total - own->run_delay;
		unseen = arrivals - own->arrivals;
		own->run_delay = total;
		own->arrivals = arrivals + (queued != 0); /* as the kernel is about to count */
		preempted = own->queued_ns;
		own->queued_ns = 0;
		moved = own->moved;
		own->moved = 0;
	}
	cell = seen(next, false, moved ? 0 : wait);
	if (!cell)
		return 0;
	if (!own)
		cell->counts[LAT_PARTIAL]++; /* a task that the iterator was not shown */
	if (preempted)
		wait = longer_wait(cell, wait, preempted, now);
	if (moved) {
		cell->counts[LAT_UNMATCHED]++;
		if ((__s64)wait > 0)
			cell->counts[LAT_UNMATCHED_NS] += wait;
	} else if ((__s64)wait < 0) {
		cell->counts[LAT_NEGATIVE]++;
	} else if (queued || preempted) {
		cell->counts[LAT_JOINED] += unseen;
		record(cell, next, false, wait);
	} else {
		cell->counts[LAT_MISSED_START]++;
	}
	return 0;
}

/*
 * The kernel stamps every task that it moves to another run queue as if it waited there. One that
 * is asleep does not, and the stamp stays until it gets a CPU: its sleep would be a wait, as it is
 * in schedstat. When it woke up we do not know.
 */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(stamps_migrate, struct task_struct *task)
{
	struct runqlat_task *own;

	if (!task_delayed(task))
		return 0;
	own = bpf_task_storage_get(&tasks, task, NULL, 0);
	if (own)
		own->moved = 1;
	return 0;
}

/* A task that is new has waited for nothing yet: its storage starts at zero. */
SEC("tp_btf/task_newtask")
int BPF_PROG(newtask, struct task_struct *task)
{
	bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/*
 * The same for kernels that preempt a program at a tracepoint (7.0), and do not run it for others
 * on that CPU until its task goes on. Those of the scheduler itself run with interrupts off.
 */
SEC("tp_btf/task_newtask")
int BPF_PROG(newtask_again, struct task_struct *task)
{
	bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* Once, after the probes are attached: storage for every task there is. */
SEC("iter/task")
int prime(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct runqlat_task fresh = {};

	if (!task)
		return 0;
	fresh.arrivals = task->sched_info.pcount;
	/* In this order one that ends between the two is counted as joined, not passed over. */
	store_ordered(&fresh.queued_ns, 0);
	fresh.run_delay = task->sched_info.run_delay;
	bpf_task_storage_get(&tasks, task, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* Once, when the window has closed: who is still waiting, and for how long. */
SEC("iter/task")
int stamps_census(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct runqlat_task *own;
	__u64 queued, now;

	/* One that was moved in its sleep has a stamp, too. */
	if (!task || !task->pid || !task_is_active(task))
		return 0;
	queued = task->sched_info.last_queued;
	now = queue_clock(task);
	own = bpf_task_storage_get(&tasks, task, NULL, 0);
	if (own && own->moved) /* since when it is runnable is not known */
		queued = now;
	else if (own && own->queued_ns)
		queued = own->queued_ns;
	if (!queued || (filter_by_task(&knobs) && !task_wanted(&knobs, task, false)))
		return 0;
	count_open(&open_waits, queued, now);
	return 0;
}

/* ---- tp_btf ---- */

static __always_inline int stored_wakeup(struct task_struct *task)
{
	struct runqlat_task *own = bpf_task_storage_get(&tasks, task, NULL, 0);

	if (own)
		own->queued_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(stored_wakeup_old, struct task_struct *task)
{
	return stored_wakeup(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(stored_wakeup_new, struct task_struct *task)
{
	return stored_wakeup(task);
}

/* Counts the end of a wait that our own clock timed; `queued_ns` is 0 where no start was seen. */
static __always_inline void record_since(struct lat_cell *cell, struct task_struct *next, bool raw,
					 __u64 queued_ns, __u64 now)
{
	if (!queued_ns)
		cell->counts[LAT_MISSED_START]++;
	else if (queued_ns > now)
		cell->counts[LAT_NEGATIVE]++;
	else
		record(cell, next, raw, now - queued_ns);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(stored_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns(), queued;
	struct runqlat_task *own;
	struct lat_cell *cell;

	if (prev->pid) {
		if (preempt && task_state(prev, false))
			count_switch(LAT_UNSTAMPED);
		own = bpf_task_storage_get(&tasks, prev, NULL, 0);
		if (own) /* also forgets the stamp of a wakeup that found the task running */
			own->queued_ns = preempt || !task_state(prev, false) ? now : 0;
	}
	if (!next->pid)
		return count_switch(LAT_IDLE);
	own = bpf_task_storage_get(&tasks, next, NULL, 0);
	queued = own ? own->queued_ns : 0;
	cell = seen(next, false, queued ? now - queued : 0);
	if (!own) {
		if (cell)
			cell->counts[LAT_MAP_FULL]++;
		return 0;
	}
	own->queued_ns = 0;
	if (cell)
		record_since(cell, next, false, queued, now);
	return 0;
}

SEC("iter/task")
int stored_census(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct runqlat_task *own;
	__u64 queued;

	if (!task || !task->pid || (filter_by_task(&knobs) && !task_wanted(&knobs, task, false)))
		return 0;
	own = bpf_task_storage_get(&tasks, task, NULL, 0);
	queued = own ? *(volatile __u64 *)&own->queued_ns : 0;
	if (!queued)
		return 0;
	/* One that runs was woken up for nothing; forgotten when it leaves the CPU. */
	if (bpf_core_field_exists(task->on_cpu) && task->on_cpu)
		return 0;
	count_open(&open_waits, queued, bpf_ktime_get_ns());
	return 0;
}

/* ---- raw_tp ---- */

static __always_inline void hashed_start(struct task_struct *task, __u64 now)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	struct lat_cell *cell;

	/* Asked already here, so that the census has only what is wanted. */
	if (filter_by_task(&knobs) && !task_wanted(&knobs, task, true))
		return;
	if (!bpf_map_update_elem(&start_ts, &tid, &now, BPF_ANY) || !control.armed)
		return;
	cell = cells_here(&cells);
	if (cell)
		__sync_fetch_and_add(&cell->counts[LAT_NOT_KEPT], 1);
}

SEC("raw_tp/sched_wakeup")
int BPF_PROG(hashed_wakeup, struct task_struct *task)
{
	hashed_start(task, bpf_ktime_get_ns());
	return 0;
}

SEC("raw_tp/sched_wakeup_new")
int BPF_PROG(hashed_wakeup_new, struct task_struct *task)
{
	hashed_start(task, bpf_ktime_get_ns());
	return 0;
}

SEC("raw_tp/sched_switch")
int BPF_PROG(hashed_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 prev_tid = BPF_CORE_READ(prev, pid), next_tid = BPF_CORE_READ(next, pid);
	__u64 now = bpf_ktime_get_ns(), *start, queued = 0;
	struct lat_cell *cell;

	if (prev_tid) {
		if (preempt && task_state(prev, true))
			count_switch(LAT_UNSTAMPED);
		if (preempt || !task_state(prev, true))
			hashed_start(prev, now);
		else
			bpf_map_delete_elem(&start_ts, &prev_tid);
	}
	if (!next_tid)
		return count_switch(LAT_IDLE);
	start = bpf_map_lookup_elem(&start_ts, &next_tid);
	if (start) {
		queued = *start;
		bpf_map_delete_elem(&start_ts, &next_tid);
	}
	cell = seen(next, true, 0); /* what is filtered has no start */
	if (cell)
		record_since(cell, next, true, queued, now);
	return 0;
}

SEC("raw_tp/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	const struct split split = { &keys, &rows, &light, &control, &knobs };

	split_rename(&split, 1, task, comm);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
