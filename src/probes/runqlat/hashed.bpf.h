/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Method raw_tp of runqlat. A map and programs are defined here, so only runqlat.bpf.c may include
 * this.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_HASHED_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_HASHED_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, __u64);
} start_ts SEC(".maps");

/* In the lowest bit of a start: the task was preempted on its way to sleep. */
#define PREEMPTED 1ULL

static __always_inline void hashed_start(struct task_struct *task, __u64 now)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	struct lat_cell *cell;

	/* Filter already here, so that waits in flight are only the wanted ones. */
	if (control.closed_ns || (filter_by_task(&config) && !task_wanted(&config, task, true)))
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
	__u32 tid = BPF_CORE_READ(task, pid);
	__u64 *start = bpf_map_lookup_elem(&start_ts, &tid);

	if (!task_runs(task, true) && (!start || !(*start & PREEMPTED)))
		hashed_start(task, bpf_ktime_get_ns() & ~PREEMPTED);
	return 0;
}

SEC("raw_tp/sched_wakeup_new")
int BPF_PROG(hashed_wakeup_new, struct task_struct *task)
{
	hashed_start(task, bpf_ktime_get_ns() & ~PREEMPTED);
	return 0;
}

SEC("raw_tp/sched_switch")
int BPF_PROG(hashed_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 prev_tid = BPF_CORE_READ(prev, pid), next_tid = BPF_CORE_READ(next, pid);
	__u64 now = bpf_ktime_get_ns() | PREEMPTED, *start, queued = 0;
	struct lat_cell *cell;

	if (control.closed_ns)
		return 0;
	if (prev_tid) {
		if (!task_state(prev, true)) {
			hashed_start(prev, now & ~PREEMPTED);
		} else if (preempt) {
			count_switch(LAT_UNSTAMPED);
			hashed_start(prev, now);
		} else {
			bpf_map_delete_elem(&start_ts, &prev_tid);
		}
	}
	if (!next_tid)
		return count_switch(LAT_IDLE);
	start = bpf_map_lookup_elem(&start_ts, &next_tid);
	if (start) {
		queued = *start;
		bpf_map_delete_elem(&start_ts, &next_tid);
	}
	cell = seen(next, true, 0); /* filtered tasks have no start */
	if (cell)
		record_since(cell, next, true, queued, now);
	return 0;
}

#endif
