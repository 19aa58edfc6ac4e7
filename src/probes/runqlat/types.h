/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of runqlat and user space share. */
#ifndef LATSCOPE_PROBES_RUNQLAT_TYPES_H
#define LATSCOPE_PROBES_RUNQLAT_TYPES_H

#include <latscope/why.h>

/*
 * What runqlat keeps of a task: an entry of `task_lines`, or, if another task has that, in task
 * storage.
 */
struct runqlat_task {
	__u64 task; /* the task_struct that has this entry; 0: it is free */
	union {
		struct {
			__u32 tid; /* of that task; 0: the entry is being made */
			__u8 moved; /* stamps: it was moved in its sleep */
			/* stamps: it waited at the attach, and may have been moved in its sleep */
			__u8 unknown;
			/*
			 * it was on its way to sleep, so it waits already; a wakeup does not start
			 * its wait
			 */
			__u8 preempted;
			/* its wait was in flight when the window closed, and has ended since */
			__u8 ended;
		};
		__u64 tid_alone; /* tid, if none of the four is set */
	};
	__u64 run_delay; /* stamps: the kernel's sum of waits at the last switch-in */
	__u64 arrivals; /* stamps: the kernel's count of waits at the last switch-in */
	__u64 queued_ns; /* own stamp of becoming runnable; 0: none */
	__u64 request_ns; /* when a wakeup was requested; 0: none was */
	__u64 quota_of; /* why: the run queue of its cgroup at the start of its wait; 0: none */
	__u64 quota_ns; /* why: how long that was out of quota until then */
};
_Static_assert(sizeof(struct runqlat_task) == 64, "runqlat_task has no padding");

/* Entries of `task_lines`: a task may only have that of its TID. */
#define RUNQLAT_LINES 16384

/* The metrics of runqlat. */
enum runqlat_metric { RUNQLAT_RUN_QUEUE, RUNQLAT_WAKEUP, RUNQLAT_METRICS };

/* Converts CLOCK_MONOTONIC to the scheduler's clock of one CPU. */
struct runqlat_clock {
	__u64 stamp; /* where in the kernel its last reading is; 0: it cannot be read */
	__u64 base_ns; /* user space: the clock where the event began to count */
	__u64 clock_ns; /* the last reading */
	__u64 offset_ns; /* CLOCK_MONOTONIC minus the scheduler's clock, at at_ns */
	__u64 at_ns; /* CLOCK_MONOTONIC; 0: it has not been read yet */
	__u64 error_ns; /* offset_ns is too small by at most this */
	__u32 event; /* file descriptor of the CPU's perf event cpu-clock */
	__u32 pad[3];
};
_Static_assert(sizeof(struct runqlat_clock) == 64, "runqlat_clock: one cache line");

/* Runqlat's map `cells`, key = cpu: one look-up finds all that a switch needs of its CPU. */
struct runqlat_cpu {
	struct lat_cell metrics[RUNQLAT_METRICS];
	struct runqlat_clock clock;
};
_Static_assert(sizeof(struct runqlat_cpu) % 64 == 0, "runqlat_cpu is of whole cache lines");

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
