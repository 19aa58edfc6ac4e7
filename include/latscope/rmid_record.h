/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs of src/probes/rmid/rmid.bpf.c send to user space, by ring buffer.
 *
 * Time on a CPU is a sequence of adjacent spans: each begins where the previous one on that CPU
 * ended. So a lost span leaves a visible gap of known place and length, and shifts nothing else.
 * Idle time is a span like any other, of process 0.
 *
 * Spans within one slot are added up in the kernel, by process, and sent as one batch. So the
 * number of records depends on the processes that ran in a slot, not on the switches. A batch is
 * adjacent to its neighbours like a span. A span that crosses the edge of a slot, or that a timer
 * ended, is a record of its own.
 *
 * Records of one CPU come in the order of their times. Those of different CPUs nearly do: a CPU may
 * be delayed between reading the time and reserving its place in the ring. All times:
 * CLOCK_MONOTONIC, ns.
 *
 * Needs the fixed-width types: kernel_types.bpf.h or <linux/types.h> comes before it.
 */
#ifndef LATSCOPE_RMID_RECORD_H
#define LATSCOPE_RMID_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include <uapi/latscope/rmid.h>

#define RMID_COMM_LEN 16
#define RMID_SLOT_NS 1000000ULL
#define RMID_COUNTERS 4 /* most perf events read at once */

enum lat_rmid_record {
	RMID_SPAN, /* struct lat_rmid_span, without counters */
	RMID_COUNTED_SPAN, /* the same with counters */
	RMID_BATCH, /* struct lat_rmid_batch, its cells without counters */
	RMID_COUNTED_BATCH, /* the same with counters */
	RMID_PROCESS, /* struct lat_rmid_process */
	RMID_OWNER, /* struct lat_rmid_owner, from the kernel module */
	RMID_READ, /* struct lat_rmid_read, from the kernel module */
	RMID_TASK, /* struct lat_rmid_task, where user space emulates RMIDs */
};

/* The owner of a span. */
enum lat_rmid_who {
	RMID_WHO_IDLE,
	RMID_WHO_PROCESS, /* of tgid, which started at born_ns */
	RMID_WHO_RMID, /* of the process that had that RMID at the time */
	RMID_WHO_WAITING, /* of processes without an RMID from the kernel module */
	RMID_WHO_KERNEL, /* of kernel threads, which have no RMID of their own */
};

enum lat_rmid_flag {
	RMID_LAST = 1, /* span: the last of its process */
	RMID_SWITCHED = 2, /* span: it ended by a switch */
	RMID_TICKED = 4, /* span: it ended by the timer */
};

/* What happened to the RMID of a struct lat_rmid_owner: its head's flags. */
enum lat_rmid_fate {
	RMID_ALLOCATED,
	RMID_FREED,
	RMID_LISTED,
	RMID_AWAITED, /* emulated: the process found none, and waits since time_ns */
	RMID_YIELDED, /* emulated: the process lives, but another one gets its RMID */
};

/* What happened to the task of a struct lat_rmid_task: its head's flags. */
enum lat_rmid_life {
	RMID_BEGINS, /* it is about to run for the first time */
	RMID_EXISTS, /* the leader of a process that existed before */
	RMID_ENDS, /* it has run for the last time */
	RMID_ENDS_ALL, /* likewise, and so have all threads of its process */
	RMID_EXECS,
};

struct lat_rmid_head {
	__u64 time_ns; /* span: its end */
	__u16 cpu;
	__u8 record; /* enum lat_rmid_record */
	__u8 flags; /* of enum lat_rmid_flag; owner: enum lat_rmid_fate */
	__u32 pad;
};
_Static_assert(sizeof(struct lat_rmid_head) == 16, "lat_rmid_head has no padding");

/* What one perf event of the CPU counted within a span. */
struct lat_rmid_counter {
	__u64 value;
	__u32 enabled_ns;
	__u32 running_ns; /* less than enabled: the counter was shared; 0: no value */
};
_Static_assert(sizeof(struct lat_rmid_counter) == 16, "lat_rmid_counter has no padding");

struct lat_rmid_span {
	struct lat_rmid_head head;
	__u64 start_ns;
	/* RMID_WHO_PROCESS: CLOCK_BOOTTIME; distinguishes it from others with its tgid */
	__u64 born_ns;
	__u32 who; /* enum lat_rmid_who */
	__u32 id; /* the tgid or the RMID */
	__u32 switches; /* including the one that ended it; the others were in its first slot */
	__u32 pad;
	struct lat_rmid_counter counters[RMID_COUNTERS]; /* RMID_COUNTED_SPAN only */
};
#define RMID_SPAN_SIZE __builtin_offsetof(struct lat_rmid_span, counters)
_Static_assert(sizeof(struct lat_rmid_span) == 48 + RMID_COUNTERS * 16,
	       "lat_rmid_span has no padding");

/* The share of one process in a batch. */
struct lat_rmid_cell {
	__u64 born_ns; /* as in the span */
	__u32 who;
	__u32 id;
	__u32 cpu_ns;
	__u32 switches;
	__u32 flags; /* RMID_LAST: the process has run for the last time */
	__u32 unknown; /* mask of 1 << counter: not counted all of the time */
	struct lat_rmid_counter counters[RMID_COUNTERS]; /* RMID_COUNTED_BATCH only */
};
#define RMID_CELL_SIZE __builtin_offsetof(struct lat_rmid_cell, counters)
_Static_assert(sizeof(struct lat_rmid_cell) == 32 + RMID_COUNTERS * 16,
	       "lat_rmid_cell has no padding");

/* Adjacent spans of one CPU within one slot, added up. `nr` cells follow. */
struct lat_rmid_batch {
	struct lat_rmid_head head; /* time_ns: the end */
	__u64 start_ns;
	__u32 nr;
	__u32 pad;
};
_Static_assert(sizeof(struct lat_rmid_batch) == 32, "lat_rmid_batch has no padding");

#define RMID_CELLS 4096 /* bytes of a batch for its cells */
#define RMID_INDEX 256 /* twice the maximum number of cells */

/* A process exists, or has changed its name. */
struct lat_rmid_process {
	struct lat_rmid_head head;
	__u64 born_ns;
	__u32 tgid;
	__u32 pad;
	char comm[RMID_COMM_LEN];
};
_Static_assert(sizeof(struct lat_rmid_process) == 48, "lat_rmid_process has no padding");

struct lat_rmid_owner {
	struct lat_rmid_head head;
	struct latscope_rmid_owner owner;
};
_Static_assert(sizeof(struct lat_rmid_owner) == 80, "lat_rmid_owner has no padding");

struct lat_rmid_read {
	struct lat_rmid_head head;
	struct latscope_rmid_read read;
};
_Static_assert(sizeof(struct lat_rmid_read) == 64, "lat_rmid_read has no padding");

struct lat_rmid_task {
	struct lat_rmid_head head;
	/* Its signal_struct: no other process has the address while a task of this one is left. */
	__u64 key;
	__u64 born_ns;
	__u32 tgid;
	__u32 pid;
	__u32 threads; /* RMID_EXISTS: that will end; RMID_ENDS: that have not begun to exit */
	__u32 runner; /* the task that ran at the time */
	char comm[RMID_COMM_LEN];
};
_Static_assert(sizeof(struct lat_rmid_task) == 64, "lat_rmid_task has no padding");

/*
 * Map `cpus`, key = CPU: the open span of that CPU, written by the programs on it, which exclude
 * each other (interrupts are off). User space reads it at any time: a copy is consistent if
 * `version` was even, and the same before and after.
 */
struct lat_rmid_cpu {
	/* what each switch reads or writes: one cache line */
	__u32 version;
	__u32 tgid; /* 0: idle */
	__u64 born_ns;
	__u64 since_ns; /* 0: unknown */
	__u64 ran_ns; /* CPU time of the thread when the span began; only with `pid` */
	__u64 count; /* switches by the scheduler's count; 0: none was seen */
	__u64 edge_ns; /* end of the slot in which the last span began */
	__u32 switches;
	__s32 pid; /* the single thread of the span; 0: several, or unknown */
	/* Cells of the open batch by number, from 1; 0: none, or not known. Not with counters. */
	__u32 cell; /* of the process of the open span, which begins where the batch ends */
	__u32 last_cell; /* of the span before */

	__u32 older_cell; /* of the span before that */
	__u32 left; /* set by user space: the CPU went offline, so the open span has no end */
	__u64 hidden; /* switches that were not seen */
	__u64 lost_spans; /* that found no room in the ring; likewise the records below */
	__u64 lost_others; /* written by any CPU */
	__u64 failed_reads; /* of a perf event */
	__u64 valid; /* mask of 1 << counter: the three fields below are valid */
	__u64 values[RMID_COUNTERS]; /* of the perf events, at the last reading */
	__u64 enabled_ns[RMID_COUNTERS];
	__u64 running_ns[RMID_COUNTERS];
	__u8 index[RMID_INDEX]; /* hash table of the open batch: number of the cell, from 1 */
	struct lat_rmid_batch batch; /* the open batch; nr 0: none */
	__u8 cells[RMID_CELLS];
	__u64 pad[2]; /* pads to whole cache lines, so that CPUs do not share one */
};
_Static_assert(sizeof(struct lat_rmid_cpu) % 64 == 0, "lat_rmid_cpu is of whole cache lines");

/* What user space changes while the programs run. */
struct lat_rmid_control {
	__u32 armed; /* spans count only while this is 1 */
	__u32 pad;
};

#endif
