/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of memlat and user space share. */
#ifndef LATSCOPE_PROBES_MEMLAT_TYPES_H
#define LATSCOPE_PROBES_MEMLAT_TYPES_H

#include <latscope/why.h>

/*
 * A call of handle_mm_fault(), or a fault of the method perf-event: memlat's `calls`, in .bss,
 * hashed by TID. A call takes the first free place of the few from there on.
 */
#define MEMLAT_CALL_BITS 14
#define MEMLAT_CALLS (1 << MEMLAT_CALL_BITS)
#define MEMLAT_PLACES 8

struct memlat_call {
	__u64 id; /* TID << 32 | low half of the address of the call's frame; 0: a free place */
	__u64 start_ns; /* of the fault; 0: not stamped yet */
	__u64 address;
	union {
		struct {
			__u16 bits; /* enum memlat_bit */
			__u16 pending; /* the call is over, it returned "retry" */
			__u16 tries; /* calls that returned "retry" so far */
			__u16 cpu; /* where it began, if a filter or split needs it; else 0 */
		};
		__u64 state; /* all of it; at most MEMLAT_ONE_CALL: nothing but bits */
	};
};
#define MEMLAT_ONE_CALL 0xffff
#define MEMLAT_ENTRY 0xffffffff /* in place of the address: the exception that made calls */
_Static_assert(sizeof(struct memlat_call) == 32, "memlat_call: two to a cache line, no padding");

#define MEMLAT_SYMBOL 64 /* room for the name of a function and its size */
#define MEMLAT_FRAMES 127 /* of a stack: the kernel's default limit */

/* Code of a kernel function: its first byte, and the byte after its last; 0 and 0: unknown. */
struct memlat_code {
	__u64 start;
	__u64 end;
};
_Static_assert(sizeof(struct memlat_code) == 16, "memlat_code has no padding");

/* Value of memlat's task storage. */
struct memlat_task {
	struct memlat_call
		call; /* perf-event: the fault in progress, if no place was free for it */
	__u32 bits; /* enum memlat_bit: what was found out during a call */
	__u32 before; /* calls in progress at the attach, whose entry was not seen */
	__u64 faults; /* by the kernel's count, when it was looked at last */
	__u64 has_faults; /* it was */
};
_Static_assert(sizeof(struct memlat_task) == 56, "memlat_task has no padding");

/* Memlat's faults of tasks by the kernel's count: src/probes/memlat/unseen.bpf.h. */
struct memlat_unseen {
	__u64 faults;
	__u64 since_ns; /* when the count began */
	__u32 counts; /* set by user space, as the next one: it goes on */
	__u32 at_events; /* what is seen is subtracted at each event */
};
_Static_assert(sizeof(struct memlat_unseen) == 24, "memlat_unseen has no padding");

enum why_memlat {
	WHY_MEMLAT_UNKNOWN,
	WHY_MEMLAT_CPU, /* on a CPU, in the handler */
	WHY_MEMLAT_RUNNABLE, /* waiting for a CPU */
	WHY_MEMLAT_IO, /* asleep until block I/O is done */
	WHY_MEMLAT_BLOCKED, /* asleep otherwise: lock, userfaultfd, FUSE */
	WHY_MEMLAT_RECLAIM, /* direct reclaim */
	WHY_MEMLAT_COMPACTION, /* direct compaction */
	WHY_MEMLAT_LOCK, /* asleep until it gets mmap_lock */
	WHY_MEMLAT_PARTS,
};

/* Memlat's map `why_stacks`, by hash of the TID. */
#define WHY_STACKS 1024

#endif
