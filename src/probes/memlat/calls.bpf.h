/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of calls in progress of handle_mm_fault(), and the state of memlat that goes with it.
 * Maps are defined here, so only memlat.bpf.c may include this.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_CALLS_BPF_H
#define LATSCOPE_PROBES_MEMLAT_CALLS_BPF_H

#include <probes/kit/filter.bpf.h>
#include <probes/kit/sample.bpf.h>

#include "types.h"

const volatile struct lat_config config = {};
struct lat_control control = {};
struct lat_in_flight waits_in_flight = {};
struct lat_oldest oldest_in_flight = {};

CELLS_MAP(lat_cell) cells SEC(".maps");
struct keys_map keys SEC(".maps");
struct owners_map owners SEC(".maps");
struct rows_map rows SEC(".maps");
struct light_map light SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct memlat_task);
} tasks SEC(".maps");

/* Open calls. Much cheaper than a hash or task storage. */
struct memlat_call calls[MEMLAT_CALLS] __attribute__((aligned(64))) = {};

/* What there is hardly ever: nearly always, one look tells that there is none of it. */
union {
	struct {
		/* Tasks with a fault that began before the attach, and no further attempt seen. */
		__u32 marked;
		/* perf-event: faults in progress that are not in the first place of their task. */
		__u32 elsewhere;
	};
	__u64 any;
} others = {};

/*
 * Low 32 bits of an address on the kernel stack. A 32-bit move turns a pointer, with which the
 * verifier allows no arithmetic, into a scalar.
 */
static __always_inline __u64 frame_of(const void *address)
{
	__u32 frame;

	asm volatile("%0 = %1" : "=w"(frame) : "w"((__u32)(unsigned long)address));
	return frame;
}

/*
 * The id of a call by its frame. Ids of one task compare as its frames do: a kernel stack does not
 * cross a multiple of 4 GiB. The frame is computed last, so it need not be kept over the helper.
 */
static __always_inline __u64 call_id(const void *frame)
{
	__u64 task = bpf_get_current_pid_tgid() << 32;

	return task | frame_of(frame);
}

static __always_inline __u32 id_tid(__u64 id)
{
	return id >> 32;
}

/* The search for calls of a task starts here; few other tasks share the place. */
static __always_inline __u32 first_place(__u32 tid)
{
	return tid * 0x9e3779b1U >> (32 - MEMLAT_CALL_BITS) & ~1;
}

/* The barrier keeps the compiler from computing the address again at every use. */
static __always_inline struct memlat_call *place_at(__u32 place)
{
	struct memlat_call *call = &calls[place & (MEMLAT_CALLS - 1)];

	barrier_var(call);
	return call;
}

/* Takes a place if it is free. */
static __always_inline bool call_take(struct memlat_call *call, __u64 id)
{
	__u64 owner = __sync_val_compare_and_swap(&call->id, 0, id);

	barrier_var(owner); /* else two conditions are computed and then joined */
	return !owner;
}

/*
 * A place for a call of this task; `held`: it has an earlier call with a frame at or below this
 * one. That call must have returned, even if no program saw it.
 */
static __always_inline struct memlat_call *call_claim(__u64 id, bool *held)
{
	__u32 place = first_place(id_tid(id));
	__u64 owner;

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES; i++) {
		struct memlat_call *call = place_at(place + i);

		owner = call->id;
		*held = owner;
		if (owner ? id_tid(owner) == id_tid(id) && owner <= id : call_take(call, id))
			return call;
	}
	return NULL;
}

/* The barrier: the verifier must see the test of this pointer, not an equivalent one. */
static __always_inline struct memlat_call *call_find(__u64 id)
{
	struct memlat_call *call, *found = NULL;
	__u32 place = first_place(id_tid(id));

#pragma clang loop unroll(disable)
	for (int i = 0; i < MEMLAT_PLACES && !found; i++) {
		call = place_at(place + i);
		if (call->id == id)
			found = call;
	}
	barrier_var(found);
	return found;
}

/* Another CPU may take the place as soon as it is free: start_ns must be 0 by then. */
static __always_inline void call_free(struct memlat_call *call)
{
	call->start_ns = 0;
	store_ordered(&call->id, 0);
}

/* Reclaim and compaction within a fault swap, too, but not what the fault is about. */
static __always_inline bool reclaims(void)
{
	return bpf_get_current_task_btf()->flags & PF_MEMALLOC;
}

/* ---- the method perf-event ---- */

/* In the id of these faults, instead of an address. They do not nest. */
#define EVENT_FRAME 1

static __always_inline __u64 event_id(__u32 tid)
{
	return (__u64)tid << 32 | EVENT_FRAME;
}

static __always_inline bool is_event(__u64 id)
{
	return (__u32)id == EVENT_FRAME;
}

/*
 * The ID of an exception. Its calls are in the table, too: with --why, the methods fentry and
 * kprobe measure a fault from the start of its exception. That is not within a call.
 */
static __always_inline __u64 entry_id(__u32 tid)
{
	return (__u64)tid << 32 | MEMLAT_ENTRY;
}

static __always_inline bool is_entry(__u64 id)
{
	return (__u32)id == MEMLAT_ENTRY;
}

/*
 * The fault in progress of a task, in any place, or in the task's storage: there it has no id.
 * NULL: there is none.
 */
static __always_inline struct memlat_call *event_find(struct task_struct *task, __u64 id)
{
	struct memlat_call *call = call_find(id);
	struct memlat_task *own;

	if (call || !others.elsewhere)
		return call;
	own = bpf_task_storage_get(&tasks, task, NULL, 0);
	return own && own->call.start_ns ? &own->call : NULL;
}

/* `first`: the first place of the task. */
static __always_inline void event_free(struct memlat_call *call, const struct memlat_call *first)
{
	if (call != first)
		__sync_fetch_and_add(&others.elsewhere, -1);
	call_free(call);
}

#endif
