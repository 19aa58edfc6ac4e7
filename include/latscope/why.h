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

/* Map `why_cells`, key = cpu, mapped: totals since the window opened. */
struct why_cell {
	__u64 slow; /* samples over the threshold */
	__u64 slow_ns; /* their sum */
	__u64 part_ns[WHY_PARTS]; /* these sum to slow_ns */
	__u64 sent; /* events put into the ring buffer */
	__u64 dropped; /* events that found no room in it */
	/* Slow samples of latscope itself, which are not in any other number. */
	__u64 of_latscope, of_latscope_ns;
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

#endif
