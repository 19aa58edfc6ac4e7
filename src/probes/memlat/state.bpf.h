/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept of an open call with --why: where its task has been since its start. Nothing is done
 * at the start of a fault. The state of a call begins when the task first loses the CPU, or begins
 * to reclaim; a fault without a state was on a CPU all the time. A map is defined here, so only
 * memlat.bpf.c may include this.
 */
#ifndef LATSCOPE_PROBES_MEMLAT_STATE_BPF_H
#define LATSCOPE_PROBES_MEMLAT_STATE_BPF_H

#include "calls.bpf.h" /* has the config, which the next one needs */
#include <probes/kit/why.bpf.h>

/* Where the task of an open call has been since its start. */
struct why_call {
	__u64 start_ns; /* of the call; another one: the state is of an earlier call */
	__u64 out_ns; /* when the task lost the CPU; 0: it has one */
	__u64 out_clock; /* the same by the run queue's clock */
	__u64 run_delay; /* the kernel's sum of its waits, as of then */
	__u64 in_ns; /* when it last got a CPU, */
	__u64 off_ns; /* after so long */
	__u64 since_ns; /* begin of the reclaim or compaction that it is in; 0: none */
	__u64 longest_ns; /* the longest sleep */
	__u64 part_ns[WHY_MEMLAT_PARTS];
	__u32 off_part; /* enum why_memlat: why it lost the CPU */
	__u32 since_part; /* enum why_memlat: reclaim or compaction */
	__u32 moved; /* the kernel may have stamped it in its sleep */
	__u32 locking; /* it waits for mmap_lock */
	__u64 owner; /* the task that held that for writing when the wait began; 0: unknown */
	__u64 waker; /* the task that ended its last sleep there */
	__u64 before_ns; /* of waits for it before this one */
	struct why_who owner_is;
	struct why_who
		holder; /* of the wait, or the longest one, if one task held it all the time */
	__u64 holder_ns;
	__u64 answerer; /* the task that may wake it up from its wait for userfaultfd; 0: none */
	__u64 served; /* that one has */
	struct why_who answerer_is;
	struct why_who server; /* of the sleeps, or the longest one */
	__u64 server_ns;
	__u64 swap_disk; /* as in struct backing, of the swap that it asked for; 0: none */
};

/* User space sizes it to MEMLAT_CALLS: by place of the call. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_call);
} why_calls SEC(".maps");

static __always_inline bool is_call_of(const struct memlat_call *call, __u32 tid)
{
	return ((const __u32 *)&call->id)[1] == tid;
}

/*
 * May the task have an open call? This is what most switches cost: the places are two to a cache
 * line, one behind the other.
 */
static __always_inline bool may_have_call(__u32 tid)
{
	__u32 place = first_place(tid);
	struct memlat_call *call;

	_Static_assert(MEMLAT_PLACES == 8, "each place is looked at");
	if (place > MEMLAT_CALLS - MEMLAT_PLACES)
		return true;
	call = &calls[place];
	barrier_var(call);
	return is_call_of(&call[0], tid) || is_call_of(&call[1], tid) ||
	       is_call_of(&call[2], tid) || is_call_of(&call[3], tid) ||
	       is_call_of(&call[4], tid) || is_call_of(&call[5], tid) ||
	       is_call_of(&call[6], tid) || is_call_of(&call[7], tid);
}

/* The state of the call in a place, if that is an open call of the task. `make`: begin it. */
static __always_inline struct why_call *state_at(__u32 place, __u32 tid, bool make)
{
	struct memlat_call *call = place_at(place);
	__u64 start_ns = call->start_ns;
	struct why_call *state;

	place &= MEMLAT_CALLS - 1;
	if (!start_ns || !is_call_of(call, tid))
		return NULL;
	state = bpf_map_lookup_elem(&why_calls, &place);
	if (!state || state->start_ns == start_ns)
		return state;
	if (!make)
		return NULL;
	__builtin_memset(state, 0, sizeof(*state));
	state->start_ns = start_ns;
	return state;
}

#endif
