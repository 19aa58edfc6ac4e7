/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a sample was slow: what passes between the probes and user space. A probe divides each slow
 * sample into parts that sum to it, and adds them to its cell and to pairs of victim and culprit.
 * Of the slowest samples it also sends an event.
 */
#ifndef LATSCOPE_WHY_H
#define LATSCOPE_WHY_H

#include "event.h"

#define WHY_PARTS 16 /* maximum parts of a probe; part 0 is what is unknown */
#define WHY_UNKNOWN 0

enum why_runqlat {
	WHY_RUNQLAT_UNKNOWN,
	WHY_RUNQLAT_OWN, /* the process of the victim had the CPU */
	WHY_RUNQLAT_OTHER, /* another process */
	WHY_RUNQLAT_KERNEL, /* a kernel thread */
	WHY_RUNQLAT_REALTIME, /* a real-time task of another process */
	WHY_RUNQLAT_LATSCOPE, /* latscope itself */
	WHY_RUNQLAT_INTERRUPTS, /* interrupts and softirqs */
	WHY_RUNQLAT_STEAL, /* the hypervisor ran something else */
	WHY_RUNQLAT_IDLE, /* the CPU was idle: wakeup latency */
	WHY_RUNQLAT_FORCED, /* it had to be idle, by core scheduling */
	WHY_RUNQLAT_SCHEDULER, /* it was idle, and a sched_ext scheduler kept the victim */
	WHY_RUNQLAT_QUOTA, /* the victim's cgroup was out of quota (cpu.max) */
	WHY_RUNQLAT_BUDGET, /* real-time or deadline tasks were out of their budget */
	WHY_RUNQLAT_MOVED, /* in the queue of another CPU; who had that is not known */
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
	WHY_MEMLAT_LOCK, /* asleep until it gets mmap_lock */
	WHY_MEMLAT_PARTS,
};

enum why_iolat {
	WHY_IOLAT_UNKNOWN,
	WHY_IOLAT_QUEUED, /* before its first issue to the driver, for no other reason */
	WHY_IOLAT_DEVICE, /* with the device, as long as alone, or for no other reason */
	WHY_IOLAT_OWN, /* longer than alone: the disk served others of its process */
	WHY_IOLAT_OTHER, /* ...of another process */
	WHY_IOLAT_LATSCOPE, /* ...of latscope itself */
	WHY_IOLAT_FLUSH, /* ...a flush; or its own flush */
	WHY_IOLAT_DISCARD, /* ...a discard */
	WHY_IOLAT_REQUEUED, /* from its first issue to its last: the driver gave it back */
	WHY_IOLAT_JOURNAL, /* longer than alone: the disk served the journal of a file system */
	WHY_IOLAT_WRITEBACK, /* all of an asynchronous write: no task waits for it */
	WHY_IOLAT_PARTS,
};

/* Map `why_cells`, key = cpu, mapped: totals since the window opened. */
struct why_cell {
	__u64 slow; /* samples over the threshold */
	__u64 slow_ns; /* their sum */
	__u64 part_ns[WHY_PARTS]; /* these sum to slow_ns */
	__u64 sent; /* events put into the ring buffer */
	__u64 dropped; /* events that found no room in it */
	__u64 own, own_ns; /* slow samples of latscope itself, which are not in any other number */
	__u64 candidates; /* samples that were sent before there was a threshold */
	__u64 least_ns; /* of the next one */
};
_Static_assert(sizeof(struct why_cell) == (8 + WHY_PARTS) * 8, "why_cell has no padding");

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

/* In an ID: it is not that of a task, but that of a cgroup (not by cgroup), or a why_source. */
#define WHY_OF_CGROUP (1ULL << 63)
#define WHY_OF_SOURCE (1ULL << 62)
#define WHY_OF_LATSCOPE (1ULL << 61) /* latscope itself */
#define WHY_OF_CPU (1ULL << 60) /* with LAT_BY_CPU: the victim is a CPU, the culprit a process */

/*
 * Runqlat's map `why_traits`, mapped: what sets tasks apart from most others. An open-addressing
 * hash, in which entries stay. The number of its entry is in the ID of a process or thread, from
 * bit WHY_TRAITS_SHIFT on; 0: nothing does, or it is not known.
 */
#define WHY_TRAITS_BITS 10
#define WHY_TRAITS (1 << WHY_TRAITS_BITS)
#define WHY_TRAITS_PROBES 8
#define WHY_TRAITS_SHIFT 32
#define WHY_TRAITS_MASK ((WHY_TRAITS - 1ULL) << WHY_TRAITS_SHIFT)
#define WHY_WORKQUEUE 32

struct why_traits {
	__u64 state; /* enum why_state */
	__u64 scheduling; /* WHY_SCHEDULING() */
	char workqueue[WHY_WORKQUEUE]; /* that the kworker worked for; empty: none, or unknown */
};
_Static_assert(sizeof(struct why_traits) == 48, "why_traits has no padding");

/*
 * `priority` is that of a real-time task, 0 of others; `nice` counts from -20; `weight` is that of
 * its cgroup of version 2, by the scheduler: WHY_WEIGHT_DEFAULT is cpu.weight 100.
 */
#define WHY_SCHEDULING(policy, priority, nice, weight) \
	((policy) | (priority) << 8 | (nice) << 16 | (__u64)(weight) << 32)
#define WHY_POLICY(scheduling) ((__u32)(scheduling)&0xff)
#define WHY_PRIORITY(scheduling) ((__u32)(scheduling) >> 8 & 0xff)
#define WHY_NICE(scheduling) ((int)((__u32)(scheduling) >> 16 & 0xff) - 20)
#define WHY_WEIGHT(scheduling) ((__u32)((scheduling) >> 32))
#define WHY_WEIGHT_DEFAULT 1024

/*
 * What had the CPU, or woke a task up, if no task did. Others: WHY_FIRST_IRQ and the IRQ's number.
 */
enum why_source {
	WHY_NO_SOURCE, /* a task */
	WHY_SOFTIRQ, /* and the vectors after the first one */
	WHY_TIMER = WHY_SOFTIRQ + 10,
	WHY_INTERRUPT, /* one without a name */
	WHY_FIRST_IRQ,
	WHY_LAST_SOURCE = (1 << 12) - 1, /* for all numbers above */
};

struct why_who {
	__u64 id; /* of the process, thread or cgroup, as lat_config.by chooses; see WHY_OF_... */
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
	__u64 read_bytes, written_bytes; /* as in struct why_amount */
	__u32 tid;
	__u32 part;
};

struct why_event {
	__u64 end_ns; /* CLOCK_MONOTONIC */
	__u64 ns;
	__u64 part_ns[WHY_PARTS]; /* these sum to ns */
	struct why_who victim; /* as in the pairs */
	__u64 cgroup; /* of the victim */
	__u32 tgid, tid; /* of the victim */
	__u32 cpu;
	__u32 metric;
	char comm[LAT_COMM_LEN]; /* of the victim's thread */
	char process[LAT_COMM_LEN]; /* of its process */
	struct why_culprit culprits[WHY_CULPRITS]; /* in any order; ns 0: none */
	__u64 sector; /* iolat */
	__u32 bytes, op, disk; /* iolat; disk also for memlat, where it is known */
	__u32 waker_tid; /* runqlat; 0: no task */
	char waker[LAT_COMM_LEN];
	__u32 waker_source; /* enum why_source */
	__u32 is_candidate; /* its parts are in no cell and in no pair yet */
	__u32 unwaited; /* iolat: no task waits for it */
	__u32 stack_tid, stack_tgid; /* the task that the stacks are of; 0: there are none */
	__s32 kernel_size, user_size; /* bytes of the stacks; negative: -errno */
	__u64 kernel_stack[WHY_FRAMES], user_stack[WHY_FRAMES];
};
_Static_assert(sizeof(struct why_event) % 8 == 0, "why_event");

/*
 * What user space sets while the programs run. ~0: no sample. Until there is a threshold, samples
 * are candidates: they are sent, and user space adds up those that turn out to be slow. Of each
 * CPU, WHY_LEVEL candidates raise the least length of further ones to twice as much.
 */
struct why_control {
	__u64 least_ns; /* a sample of at least this is explained */
	__u64 over_ns; /* ...is slow: it counts */
	__u64 event_ns; /* ...is also sent */
};
_Static_assert(sizeof(struct why_control) == 24, "why_control has no padding");

#define WHY_LEVEL 16

/* Memlat's map `why_stacks`, by hash of the TID. */
#define WHY_STACKS 1024

/* Iolat's maps `why_names`, by TID, and `why_disks`, by ID of the disk's queue. */
#define WHY_IOLAT_NAMES 4096
#define WHY_DISKS 64

/*
 * Iolat's map `why_loads`, by ID of the disk's queue, mapped: what a disk does as a whole. A batch
 * is WHY_BATCH reads and writes, completed one after the other while the disk always had others.
 */
#define WHY_BATCH 16

struct why_load {
	__u64 queue; /* 1 + its ID; 0: none yet */
	__u64 disk; /* as in lat_config */
	__u64 open; /* requests that have begun and not ended */
	__u64 started; /* requests that have begun so far */
	__u64 kib; /* read and written so far */
	__u64 breaks; /* times it had none, and completions of other operations */
	/* Sums over all batches: their time, size, and requests that were open at the end. */
	__u64 batches, us, batch_kib, kib_kib, kib_us, us_us, batch_open;
	__u64 pad[3];
};
_Static_assert(sizeof(struct why_load) == 128, "why_load has no padding");

/*
 * Iolat's map `why_kinds`, mapped: what requests of one kind take on one disk. An open-addressing
 * hash: a kind takes the first free place of WHY_KIND_PROBES.
 */
#define WHY_KIND_BITS 8
#define WHY_KINDS (1 << WHY_KIND_BITS)
#define WHY_KIND_PROBES 4
#define WHY_SIZES 8 /* at most 4 KiB << size; the last: more */
#define WHY_OP_SEQUENCE 8 /* a flush sequence as a whole; else enum lat_op */
#define WHY_KIND(queue, op, size) (1ULL << 63 | (__u64)(queue) << 8 | (op) << 4 | (size))
#define WHY_KIND_OP(key) ((key) >> 4 & 15)
#define WHY_KIND_SIZE(key) ((key)&15)
#define WHY_KIND_QUEUE(key) ((__u32)((key) >> 8))

/* Slots half as fine as those of the histograms of latencies, up to 16 s. */
#define WHY_KIND_SLOTS 400
#define WHY_ALONE_NS 32 /* unit of `alone` */

enum why_known {
	WHY_KNOWS_NOTHING, /* `alone` is not set */
	WHY_KNOWS_ALONE, /* by requests that were alone on the disk */
	WHY_KNOWS_BOUND, /* none was: by the fastest */
};

struct why_kind {
	__u64 key; /* WHY_KIND(); 0: free */
	__u64 requests;
	__u64 kib;
	__u64 fastest_ns; /* least time with the device */
	__u64 alones; /* requests that had the disk for themselves from begin to end */
	__u64 alones_ns; /* their time */
	/* Numbers of requests by time: of a sample, of all alone; and by time with the device. */
	__u32 total_slots[WHY_KIND_SLOTS];
	__u32 alone_slots[WHY_KIND_SLOTS];
	__u32 device_slots[WHY_KIND_SLOTS];
	/* Set by user space. What one costs the others; 0 and 0: not known yet. */
	__u64 cost_ns, cost_kib_ns;
	__u64 cost_is_sure;
	__u64 known; /* enum why_known */
	/* How long a request that took so long would have taken alone. */
	__u32 alone[WHY_KIND_SLOTS];
};
_Static_assert(sizeof(struct why_kind) == 80 + 16 * WHY_KIND_SLOTS, "why_kind has no padding");

static inline __attribute__((always_inline)) __u32 why_kind_slot(__u64 ns)
{
	__u32 slot = hist_slot(ns) / 2;

	return slot < WHY_KIND_SLOTS ? slot : WHY_KIND_SLOTS - 1;
}

/*
 * Of each CPU, in runqlat's map `places`: who had it. The last WHY_TURNS turns are known; before,
 * blocks of WHY_BLOCK turns; before these, blocks of WHY_BLOCK blocks.
 */
#define WHY_TURNS (1 << 12)
#define WHY_BLOCK 64
#define WHY_BLOCKS (1 << 9)
#define WHY_SUPERS (1 << 8)
#define WHY_HITTERS 8

enum why_class {
	WHY_TASK,
	WHY_KTHREAD,
	WHY_RT,
	WHY_LATSCOPE,
	WHY_IDLE,
	WHY_FORCED, /* idle, though tasks waited: core scheduling */
	WHY_HIDDEN, /* the program did not see who had the CPU */
	/* Not of a turn, but within turns. */
	WHY_INTERRUPTED,
	WHY_STOLEN,
	WHY_CLASSES,
};

/* The tgid of a kernel thread is its tid; in its place, this and the number of its traits. */
#define WHY_OF_KTHREAD (1U << 21)

struct why_turn {
	__u64 end_ns; /* by the scheduler's clock of that CPU */
	__u64 tid : 22, tgid : 22; /* the kernel has no larger ones; see WHY_OF_KTHREAD */
	__u64 class : 4; /* enum why_class */
	__u64 limited : 1; /* real-time tasks were out of their budget */
	__u64 name : 15; /* its place in the ring of names */
	__u64 irq_ns : 32; /* within the turn: interrupts and softirqs */
	__u64 stolen : 20; /* ...the hypervisor, in units of 1024 ns */
	__u64 source : 12; /* enum why_source with most of irq_ns */
};
_Static_assert(sizeof(struct why_turn) == 24, "why_turn has no padding");

struct why_sums {
	__u64 end_ns; /* of the last turn in it */
	__u64 class_ns[WHY_CLASSES]; /* since the first turn */
};

struct why_hitter {
	__u64 ns;
	__u64 tid : 22, tgid : 22;
	__u64 class : 20; /* enum why_class */
};

/* Tasks with the most time in the block; what the others had is only in the sums. */
struct why_block {
	struct why_sums sums;
	struct why_hitter hitters[WHY_HITTERS]; /* ns 0: free */
};

struct why_turns {
	__u64 next; /* turns so far */
	__u32 names; /* taken so far */
	__u32 as_of; /* see struct why_name: of the name of `running` */
	__u64 stolen_ns; /* by the kernel's account, when `running` began */
	struct why_turn running; /* the one that has the CPU; not ended */
	struct why_block block, super; /* those that have not ended */
	struct why_turn turns[WHY_TURNS];
	struct why_block blocks[WHY_BLOCKS];
	struct why_block supers[WHY_SUPERS];
};

#endif
