/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The begin of a page fault for the methods fentry and kprobe: the software event in the
 * exception's handler. Before handle_mm_fault() is called, the handler waits for mmap_lock. Only
 * where slow faults are explained.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_ENTRY_BPF_H
#define LATSCOPE_PROBES_MEMLAT_ENTRY_BPF_H

#include "unseen.bpf.h"

#define PAGE_BITS 12 /* addresses of one fault have the same page */

/* Not the first place, which most calls get. */
static __noinline int entry_begins(__u64 address)
{
	__u64 id = entry_id(bpf_get_current_pid_tgid());
	__u32 place = first_place(id_tid(id));

#pragma clang loop unroll(disable)
	for (int i = 1; i < MEMLAT_PLACES; i++) {
		struct memlat_call *call = place_at(place + i);

		if (call->id != id && !call_take(call, id))
			continue;
		call_begins(call, address, 0);
		break;
	}
	return 0;
}

SEC("perf_event")
int fault_entry(struct bpf_perf_event_data *ctx)
{
	if (control.closed_ns)
		return 0;
	if (!current_wanted(&config))
		return 0;
	entry_begins(ctx->addr);
	return 0;
}

/* The begin of the fault that a call belongs to; NULL: an exception did not make it. */
static __always_inline struct memlat_call *entry_of(const struct memlat_call *call)
{
	struct memlat_call *entry;

	if (!config.why || call->bits & CALL_GUP)
		return NULL;
	entry = call_find(entry_id(id_tid(call->id)));
	if (!entry || !entry->start_ns || entry->start_ns > call->start_ns)
		return NULL;
	return (entry->address ^ call->address) >> PAGE_BITS ? NULL : entry;
}

static __always_inline void entry_ends(const struct memlat_call *call)
{
	struct memlat_call *entry = entry_of(call);

	if (entry)
		call_free(entry);
}

#endif
