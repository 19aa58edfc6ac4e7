// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latencies measured with an own clock in the simplest way: a hash of starts, a hash of sums. The
 * probes are compared with it, so it shares no code with them.
 */
#include <probes/kit/kernel.bpf.h>

struct start {
	__u64 ns;
	__u64 use; /* of a request: its start_time_ns; else 0 */
};

/* The sums of clocks may overflow; their differences are right. */
struct sum {
	__u64 count;
	__u64 starts_ns;
	__u64 ends_ns;
	__u64 max_ns;
};

/* By TID, or by the address of a request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u64);
	__type(value, struct start);
} starts SEC(".maps");

/* By TID, or by device number: major << 20 | minor. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u64);
	__type(value, struct sum);
} sums SEC(".maps");

__u64 lost = 0; /* what found no room in a map */

static __always_inline void begin(__u64 key, __u64 use)
{
	struct start start = { bpf_ktime_get_ns(), use };

	if (bpf_map_update_elem(&starts, &key, &start, BPF_ANY))
		__sync_fetch_and_add(&lost, 1);
}

/*
 * A task that is preempted on its way to sleep already waits when it is woken up: its wait
 * continues. The start of a running task is removed at its next switch.
 */
static __always_inline void wake(struct task_struct *task)
{
	__u64 tid = BPF_CORE_READ(task, pid);

	if (!bpf_map_lookup_elem(&starts, &tid))
		begin(tid, 0);
}

static __always_inline void end(__u64 key, __u64 use, __u64 to)
{
	struct start *start = bpf_map_lookup_elem(&starts, &key);
	struct sum *sum, none = {};
	__u64 now = bpf_ktime_get_ns(), from;
	bool known;

	if (!start)
		return;
	from = start->ns;
	known = use <= start->use;
	bpf_map_delete_elem(&starts, &key);
	if (!known)
		return;
	bpf_map_update_elem(&sums, &to, &none, BPF_NOEXIST);
	sum = bpf_map_lookup_elem(&sums, &to);
	if (!sum) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->starts_ns, from);
	__sync_fetch_and_add(&sum->ends_ns, now);
	if (now - from > sum->max_ns)
		sum->max_ns = now - from;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	wake(task);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	wake(task);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 from = BPF_CORE_READ(prev, pid), to = BPF_CORE_READ(next, pid);

	if (from && (preempt || !task_state(prev)))
		begin(from, 0);
	else if (from)
		bpf_map_delete_elem(&starts, &from);
	if (to)
		end(to, 0, to);
	return 0;
}

/*
 * Another request gets the address of one that has ended, and that end may have been missed: the
 * kernel skips a program that is preempted or already running. The two differ in the time of their
 * allocation. A merge can only lower that time, to that of the merged request. Without I/O
 * statistics it is 0.
 */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *rq)
{
	__u64 key = (__u64)rq, use = BPF_CORE_READ(rq, start_time_ns);
	struct start *start = bpf_map_lookup_elem(&starts, &key);
	__u32 op = BPF_CORE_READ(rq, cmd_flags) & REQ_OP_MASK;

	if (op == REQ_OP_DRV_IN || op == REQ_OP_DRV_OUT) /* a driver's own command, not an I/O */
		return 0;
	if (!start || use > start->use)
		begin(key, use); /* the first issue counts */
	return 0;
}

/* A request that was returned to the queue may be merged into another: it gets no end. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(block_merge, struct request *rq)
{
	__u64 key = (__u64)rq;

	bpf_map_delete_elem(&starts, &key);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, int error, unsigned int bytes)
{
	struct gendisk *disk = request_disk(rq);

	if (bytes < BPF_CORE_READ(rq, __data_len)) /* the rest will follow */
		return 0;
	end((__u64)rq, BPF_CORE_READ(rq, start_time_ns),
	    disk ? (__u64)BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor) : 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
