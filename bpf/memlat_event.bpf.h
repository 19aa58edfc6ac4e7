/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The method perf-event: software perf events at both ends of a fault. Faults of a task do not nest
 * here. Nearly all are in the first place of their task; the few others are counted in `elsewhere`.
 */
#ifndef LATSCOPE_MEMLAT_EVENT_BPF_H
#define LATSCOPE_MEMLAT_EVENT_BPF_H

#include "memlat_sample.bpf.h"

static __always_inline void event_begins(struct memlat_call *call, struct bpf_perf_event_data *ctx)
{
	bool user = config_split(&config, LAT_BY_MODE) && from_user_mode(ctx);

	call_begins(call, ctx->addr, user ? CALL_USER : 0);
}

/* A place for a fault whose first place is taken; NULL: there is none. */
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
 * event, so its start is still there.
 */
static __noinline int event_start_rare(struct bpf_perf_event_data *ctx, __u64 id)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct memlat_call *call = event_find(current, id);

	if (call) {
		count_start_loss(LAT_ABANDONED);
	} else {
		call = event_claim(id);
		if (call && call != place_at(first_place(id_tid(id))))
			__sync_fetch_and_add(&elsewhere, 1);
	}
	if (call)
		event_begins(call, ctx);
	else
		count_start_loss(LAT_NOT_KEPT);
	return 0;
}

SEC("perf_event")
int event_start(struct bpf_perf_event_data *ctx)
{
	__u64 id = call_id(EVENT_FRAME);
	struct memlat_call *call = place_at(first_place(id_tid(id)));

	if (filter_by_task(&config) && !task_wanted(&config, bpf_get_current_task_btf(), false))
		return 0;
	if (marked)
		unmark();
	if (!elsewhere && call_take(call, id))
		event_begins(call, ctx);
	else
		event_start_rare(ctx, id);
	return 0;
}

/*
 * `id`: 0 if the fault is not in the table. Global, as record_split(). Kernels before 6.8 check
 * such functions also if nobody calls them, and without `why` its maps do not exist.
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
	cell->counts[LAT_SEEN]++;
	if (call->address != ctx->addr) {
		cell->counts[LAT_UNMATCHED]++;
	} else if (now < start) {
		cell->counts[LAT_NEGATIVE]++;
	} else {
		record(cell, now - start, call->bits | bits);
		if (why_slow(&config, &why_control, now - start))
			explain_event(call->id, start, call->address, now);
	}
}

/* The end of a fault that is not in the first place of its task, or that no program saw begin. */
static __noinline struct memlat_call *event_end_rare(__u64 id)
{
	struct memlat_call *call = event_find(bpf_get_current_task_btf(), id);
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;

	if (marked)
		unmark();
	if (!call && cell)
		call_unknown(cell, LAT_MISSED_START);
	return call;
}

static __always_inline int end_event(struct bpf_perf_event_data *ctx, __u32 bits)
{
	__u64 now = bpf_ktime_get_ns(), id = call_id(EVENT_FRAME);
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
