/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a sample was slow: what passes between the probes and user space. A probe divides each slow
 * sample into parts that sum to it, and adds them to its cell and to pairs of victim and culprit.
 * Of the slowest samples it also sends an event.
 */
#ifndef LATSCOPE_WHY_H
#define LATSCOPE_WHY_H

#include "event.h"

#define WHY_PARTS 12 /* maximum parts of a probe; part 0 is what is unknown */
#define WHY_UNKNOWN 0

enum why_runqlat {
	WHY_RUNQLAT_UNKNOWN,
	WHY_RUNQLAT_OWN, /* the process of the victim had the CPU */
	WHY_RUNQLAT_OTHER, /* another process */
	WHY_RUNQLAT_KERNEL, /* a kernel thread */
	WHY_RUNQLAT_REALTIME, /* a real-time task of another process */
	WHY_RUNQLAT_IDLE, /* the CPU was idle: wakeup latency */
	WHY_RUNQLAT_QUOTA, /* the victim's cgroup was out of quota (cpu.max) */
	WHY_RUNQLAT_MOVED, /* in the queue of another CPU, before the victim was moved */
	WHY_RUNQLAT_PARTS,
};

enum why_memlat {
	WHY_MEMLAT_UNKNOWN,
	WHY_MEMLAT_CPU, /* on a CPU, in the handler */
	WHY_MEMLAT_RUNNABLE, /* waiting for a CPU */
	WHY_MEMLAT_IO, /* asleep until block I/O is done */
	WHY_MEMLAT_BLOCKED, /* asleep otherwise: lock, userfaultfd, FUSE */
	WHY_MEMLAT_RECLAIM, /* direct reclaim */
	WHY_MEMLAT_COMPACTION, /* direct compaction */
	WHY_MEMLAT_PARTS,
};

enum why_iolat {
	WHY_IOLAT_UNKNOWN,
	WHY_IOLAT_QUEUED, /* before its first issue to the driver */
	WHY_IOLAT_DEVICE, /* with the device, which worked on nothing else that is known */
	WHY_IOLAT_OWN, /* with the device, which worked on other requests of its process */
	WHY_IOLAT_OTHER, /* ...of another process */
	WHY_IOLAT_FLUSH, /* ...on a flush */
	WHY_IOLAT_DISCARD, /* ...on a discard */
	WHY_IOLAT_REQUEUED, /* from its first issue to its last: the driver gave it back */
	WHY_IOLAT_PARTS,
};

/* Map `why_cells`, key = cpu, mapped: totals since the window opened. */
struct why_cell {
	__u64 slow; /* samples over the threshold */
	__u64 slow_ns; /* their sum */
	__u64 part_ns[WHY_PARTS]; /* these sum to slow_ns */
	__u64 sent; /* events put into the ring buffer */
	__u64 dropped; /* events that found no room in it */
};
_Static_assert(sizeof(struct why_cell) == (4 + WHY_PARTS) * 8, "why_cell has no padding");

/*
 * Map `why_pairs`, one entry per place, mapped: an open-addressing hash by victim, culprit and
 * part. A pair takes the first free place of WHY_PROBES from its hash. One that finds none is added
 * to the pair of its names, whose IDs are 0, in a hash of its own after the first WHY_PAIRS; one
 * that finds no place there to its part: places 0..WHY_PARTS-1.
 */
#define WHY_PAIR_BITS 14
#define WHY_PAIRS (1 << WHY_PAIR_BITS)
#define WHY_NAMED_BITS 12
#define WHY_PLACES (WHY_PAIRS + (1 << WHY_NAMED_BITS))
#define WHY_PROBES 16

enum why_state { WHY_FREE, WHY_CLAIMED, WHY_READY };

#define WHY_OF_CGROUP (1ULL << 63) /* in an ID, not by cgroup: it is that of a cgroup */

struct why_who {
	__u64 id; /* of the process, the thread or the cgroup, as lat_config.by chooses */
	char comm[LAT_COMM_LEN]; /* of the process or the thread; empty: unknown, or a cgroup */
};

struct why_amount {
	__u64 ns;
	__u64 count; /* slow samples that it is in */
	/* iolat: requests of the culprit that were completed meanwhile */
	__u64 read_bytes, written_bytes;
};

struct why_pair {
	__u32 state; /* enum why_state */
	__u32 part;
	struct why_who victim, culprit; /* culprit.id 0: the part has none (idle, quota) */
	struct why_amount amount;
};
_Static_assert(sizeof(struct why_pair) == 88, "why_pair has no padding");

/* Map `why_events`, a ring buffer. */
#define WHY_CULPRITS 4
#define WHY_FRAMES 48

struct why_culprit {
	struct why_who who;
	__u64 ns; /* its time within the sample */
	__u32 tid;
	__u32 part;
};

struct why_event {
	__u64 end_ns; /* CLOCK_MONOTONIC */
	__u64 ns;
	__u64 part_ns[WHY_PARTS]; /* these sum to ns */
	__u64 cgroup; /* of the victim */
	__u32 tgid, tid; /* of the victim */
	__u32 cpu;
	__u32 metric;
	char comm[LAT_COMM_LEN]; /* of the victim's thread */
	char process[LAT_COMM_LEN]; /* of its process */
	struct why_culprit culprits[WHY_CULPRITS]; /* largest first; ns 0: no more */
	__u64 sector; /* iolat */
	__u32 bytes, op, disk; /* iolat; disk also for memlat, where it is known */
	__u32 waker_tid; /* runqlat; 0: preempted, or not known */
	char waker[LAT_COMM_LEN];
	__u32 stack_tid, stack_tgid; /* the task that the stacks are of; 0: there are none */
	__s32 kernel_size, user_size; /* bytes of the stacks; negative: -errno */
	__u64 kernel_stack[WHY_FRAMES], user_stack[WHY_FRAMES];
};
_Static_assert(sizeof(struct why_event) % 8 == 0, "why_event");

/* What user space sets while the programs run. ~0: nothing is slow. */
struct why_control {
	__u64 over_ns; /* a sample of at least this is slow */
	__u64 event_ns; /* of at least this, it is also sent */
};
_Static_assert(sizeof(struct why_control) == 16, "why_control has no padding");

/* Memlat's map `why_stacks`, by hash of the TID. */
#define WHY_STACKS 1024

/* Iolat's maps `why_names`, by TID, and `why_disks`, by ID of the disk's queue. */
#define WHY_IOLAT_NAMES 4096
#define WHY_DISKS 64

/*
 * Of each CPU, in runqlat's map `places`: who had it, the newest before `next`. Of older turns, the
 * sums by class are known at the end of each WHY_BLOCK turns.
 */
#define WHY_TURNS (1 << 12)
#define WHY_BLOCK 64
#define WHY_BLOCKS (1 << 10)

enum why_class {
	WHY_TASK,
	WHY_KTHREAD,
	WHY_RT,
	WHY_IDLE,
	WHY_HIDDEN, /* the program did not see who had the CPU */
	WHY_CLASSES,
};

struct why_turn {
	__u64 end_ns; /* by the scheduler's clock of that CPU */
	__u64 tid : 22, tgid : 22; /* the kernel has no larger ones */
	__u64 class : 4; /* enum why_class */
	__u64 name : 16; /* its place in the ring of names */
};
_Static_assert(sizeof(struct why_turn) == 16, "why_turn has no padding");

struct why_sums {
	__u64 end_ns; /* of the last turn in it */
	__u64 class_ns[WHY_CLASSES]; /* since the first turn */
};

/* The first members, which each switch writes, are one cache line. */
struct why_turns {
	__u64 next; /* turns so far */
	__u32 running; /* TID of the task that has the CPU */
	__u32 names; /* taken so far */
	struct why_sums sums;
	struct why_turn turns[WHY_TURNS];
	struct why_sums blocks[WHY_BLOCKS]; /* sums after each WHY_BLOCK turns */
};
_Static_assert(__builtin_offsetof(struct why_turns, turns) == 64, "why_turns: one cache line");

#endif
