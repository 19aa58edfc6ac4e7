/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The method perf-event: software perf events at both ends of a fault. Faults of a task do not nest
 * here. Nearly all are in the first place of their task; the few others are counted in
 * others.elsewhere.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_EVENT_BPF_H
#define LATSCOPE_PROBES_MEMLAT_EVENT_BPF_H

#include "entry.bpf.h"

/* A place for a fault of a task that has its first place taken; NULL: there is none. */
static __always_inline struct memlat_call *event_claim(__u64 id)
{
	struct memlat_task *own;
	struct memlat_call *call;
	bool held;

	call = call_claim(id, &held);
	if (call)
		return call;
	own = task_mark(BPF_LOCAL_STORAGE_GET_F_CREATE);
	return own ? &own->call : NULL;
}

/*
 * The first place is taken, or the task may have a fault elsewhere: a fault that failed has no end
 * event, so its start is still there. Or the task may have one that began before the attach.
 */
static __noinline int event_start_rare(__u64 id, __u64 address, __u32 bits)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct memlat_call *call;

	if (others.marked)
		unmark();
	call = event_find(current, id);
	if (call) {
		count_start_loss(LAT_ABANDONED);
	} else {
		call = event_claim(id);
		if (call && call != place_at(first_place(id_tid(id))))
			__sync_fetch_and_add(&others.elsewhere, 1);
	}
	if (call)
		call_begins(call, address, bits);
	else
		count_start_loss(LAT_NOT_KEPT);
	return 0;
}

static __always_inline int event_begins(struct bpf_perf_event_data *ctx, __u32 bits)
{
	__u64 id = event_id(bpf_get_current_pid_tgid());
	struct memlat_call *call = place_at(first_place(id_tid(id)));

	if (!others.any && call_take(call, id))
		call_begins(call, ctx->addr, bits);
	else
		event_start_rare(id, ctx->addr, bits);
	return 0;
}

SEC("perf_event")
int event_start(struct bpf_perf_event_data *ctx)
{
	bool user;

	if (!current_wanted(&config))
		return 0;
	user = config_split(&config, LAT_BY_MODE) && from_user_mode(ctx);
	return event_begins(ctx, user ? CALL_USER : 0);
}

/*
 * `id`: 0 if the fault is not in the table. The function is global: see record_split(). Kernels
 * before 6.8 verify each global function, called or not, and without `why` the maps that this one
 * uses do not exist: so the test of config.why is in it.
 */
__noinline int explain_event(__u64 id, __u64 start_ns, __u64 address, __u64 now)
{
	struct slow slow = {
		.id = id,
		.start_ns = start_ns,
		.end_ns = now,
		.ns = now - start_ns,
		.address = address,
		.own_memory = true,
		.not_followed = !id,
	};

	if (config.why)
		explain_slow(&slow, NULL);
	return 0;
}

static __always_inline void event_ended(const struct memlat_call *call,
					struct bpf_perf_event_data *ctx, __u64 now, __u32 bits)
{
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;
	__u64 start = call->start_ns;

	if (!cell)
		return;
	if (filter_by_task(&config))
		note_seen();
	cell->counts[LAT_SEEN]++;
	if (call->address != ctx->addr) {
		cell->counts[LAT_UNMATCHED]++;
	} else if (now < start) {
		cell->counts[LAT_NEGATIVE]++;
	} else if (!on_other_cpu(cell, call)) {
		record(cell, now - start, with_cpu(call->bits | bits, call));
		if (why_slow(now - start))
			explain_event(call->id, start, call->address, now);
	}
}

/* The end of a fault that is not in the first place of its task, or that no program saw begin. */
static __noinline struct memlat_call *event_end_rare(__u64 id)
{
	struct memlat_call *call = event_find(bpf_get_current_task_btf(), id);
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;

	if (others.marked)
		unmark();
	if (!call && cell) {
		call_unknown(cell, LAT_MISSED_START);
		if (filter_by_task(&config) && current_wanted(&config))
			note_seen();
	}
	return call;
}

static __always_inline int end_event(struct bpf_perf_event_data *ctx, __u32 bits)
{
	__u64 now = bpf_ktime_get_ns(), id = event_id(bpf_get_current_pid_tgid());
	struct memlat_call *first = place_at(first_place(id_tid(id))), *call = first;

	if (call->id != id)
		call = event_end_rare(id);
	if (!call)
		return 0;
	event_ended(call, ctx, now, bits);
	event_free(call, first);
	return 0;
}

SEC("perf_event")
int event_minor(struct bpf_perf_event_data *ctx)
{
	return end_event(ctx, 0);
}

SEC("perf_event")
int event_major(struct bpf_perf_event_data *ctx)
{
	return end_event(ctx, CALL_MAJOR);
}

#endif
