/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface between the kernel module `rmid` and its listeners. This comment is the protocol;
 * docs/rmid.md describes the purpose.
 *
 * Who has an RMID
 *
 * A resource monitoring ID stands for one process (thread group) with all of its threads, from its
 * birth until its last thread has run for the last time. The process keeps it when any of its
 * threads calls exec. A zombie has none. RMID 0 belongs to no process: it is used when the CPU is
 * idle, in kernel threads, and in a process that found no free RMID (see enum latscope_rmid_kind).
 * Such processes wait in a queue. The one that has waited longest gets an RMID at the next birth,
 * or at the next switch-in or tick of a waiting process, as soon as one is available. IDs go from 1
 * to the parameter `rmids`. Freed IDs wait in a queue, first in first out, and each is free for at
 * least `limbo_ns` before it is used again.
 *
 * Tracepoints
 *
 * All belong to the system `latscope`. A record follows the header of every event of tracefs and
 * perf: 8 bytes, or 16 in 6.1 with PREEMPT_RT. `format` has the offsets of its fields. A raw
 * tracepoint program gets a pointer to the record as its only argument, ctx->args[0]. Read it with
 * bpf_probe_read_kernel(); it is valid until the program returns.
 *
 *   rmid_alloc     latscope_rmid_owner     a process gets an RMID
 *   rmid_free      latscope_rmid_owner     its last thread has run for the last time
 *   rmid_existing  latscope_rmid_owner     the process has one: answer to "dump", and at exec
 *   rmid_sample    latscope_rmid_sample    what one CPU ran since its previous sample
 *   rmid_read      latscope_rmid_read      one monitoring counter of one L3 cache was read
 *
 * Events of the first three are in order: they fire under one lock, `seq` goes up by one from each
 * to the next, and `time_ns` never goes down. A gap in `seq` is a lost record. A new
 * listener should then write "dump"; rmid_existing may repeat what rmid_alloc has reported.
 *
 * Samples of one CPU follow each other without a gap: `since_ns` is `time_ns` of the previous
 * sample, or the time at which this CPU's sampling began. Otherwise a sample was lost. A CPU is
 * sampled at every multiple of LATSCOPE_RMID_TICK_NS (plus the delay of the timer), and at each
 * switch between two RMIDs, or between two kinds. So the span of a sample has one owner: the owner
 * of that RMID at `time_ns`. Because of the limbo there is only one within two ticks.
 * Sampling, reading, and writing of RMIDs go on only while rmid_sample or rmid_read has a listener.
 * CPUs of isolcpus= and nohz_full= are not sampled, nor do they read.
 *
 * All times but start_ns are CLOCK_MONOTONIC in ns (bpf_ktime_get_ns()).
 *
 * /proc/latscope_rmid (root only)
 *
 * Reading gives text: lines `name value...`, then an empty line, then a line for each process that
 * has an RMID or waits for one (its RMID is 0 then):
 *
 *   version 1
 *   rmids 512                  how many can be used
 *   limbo_ns 2000000
 *   rdt off                    off: none or not wanted; on: PQR_ASSOC is written; conflict: was on,
 *                              until another tool used it; fault: until a write failed
 *   l3_scale 0                 bytes per count of the monitoring counters; 0: no RDT
 *   mbm off                    memory bandwidth: off: the CPU does not count it, or rdt is off;
 *                              on: it is read; erratum: the CPU counts it wrong, it is not read
 *   assigned 3                 processes with an RMID
 *   waiting 0                  processes without
 *   allocs 5                   since loading, as all numbers below
 *   frees 2
 *   refused 0                  times that no RMID had been free for long enough
 *   late 0                     allocs that were refused at first
 *   untracked 0                times that a process found the table of processes full; it is
 *                              adopted when there is room: after seconds at first, after 10 minutes
 *                              if that happens again and again
 *   miscounted 0               processes whose number of threads was counted wrong
 *   ticks 0                    of all CPUs
 *   ticks_late 0               those that were more than 100 us late
 *   reads 0                    readings of monitoring counters
 *   reads_due 0                readings needed to read every RMID in use at each tick
 *   pqr_writes 0               writes of IA32_PQR_ASSOC, at switches
 *   adoptions 1                times that all CPUs were stopped, to look for processes
 *   unsampled 2-3              isolated CPUs, which have no timer and are not sampled
 *
 *   RMID TGID START_NS THREADS SINCE_NS COMM
 *
 * SINCE_NS is when the process got the RMID or, with RMID 0, began to wait. COMM is the rest of the
 * line, with \ooo for unprintable characters and the backslash. Later versions may add names;
 * readers must ignore unknown ones. Writing "dump", with or without a newline, fires rmid_existing
 * for each process that has an RMID; when the write returns, all have fired. Anything else is
 * EINVAL.
 *
 * Parameters (/sys/module/rmid/parameters, read-only, set when the module is loaded), with defaults
 *
 *   rmids      1 to LATSCOPE_RMID_MAX; 512, or what the machine has if that is less
 *   limbo_ns   2000000 to 1000000000; 2000000
 *   processes  maximum number of processes, 64 to 1048576; 32768
 *   rdt        auto: use it if it exists and works; off; force: always write PQR_ASSOC, for tests
 *              (if access faults, the module does not load)
 *   isolated   1: sample isolated CPUs, too; 0
 *   budget     maximum time for reading, on one CPU of each L3 cache, in percent of the tick,
 *              1 to 50; 2
 */
#ifndef LATSCOPE_UAPI_RMID_H
#define LATSCOPE_UAPI_RMID_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LATSCOPE_RMID_VERSION 1
#define LATSCOPE_RMID_PROC "/proc/latscope_rmid"
#define LATSCOPE_RMID_MAX 1023 /* the RMID field of IA32_PQR_ASSOC has 10 bits */
#define LATSCOPE_RMID_DEFAULT 512
#define LATSCOPE_RMID_TICK_NS 1000000
#define LATSCOPE_RMID_LIMBO_NS 2000000
#define LATSCOPE_RMID_COMM_LEN 16

/* The reason for a record of struct latscope_rmid_owner. */
enum latscope_rmid_why {
	LATSCOPE_RMID_BIRTH, /* alloc: at the start of the process */
	LATSCOPE_RMID_FOUND, /* alloc: the process existed when the module was loaded */
	LATSCOPE_RMID_LATE, /* alloc: the process had to wait */
	LATSCOPE_RMID_EXIT, /* free */
	LATSCOPE_RMID_DUMP, /* existing: answer to "dump" */
	LATSCOPE_RMID_EXEC, /* existing: the process has a new comm */
};

struct latscope_rmid_owner {
	__u64 seq;
	__u64 time_ns;
	/* when the process began, CLOCK_BOOTTIME; with tgid, it identifies the process */
	__u64 start_ns;
	__u64 since_ns; /* alloc: when it began to wait, or time_ns; else: when it got the RMID */
	__u32 rmid; /* never 0 */
	__u32 tgid; /* in the initial PID namespace */
	__u32 why; /* enum latscope_rmid_why */
	__u32 threads; /* free: 0 */
	char comm[LATSCOPE_RMID_COMM_LEN]; /* of the leader, at birth or the last exec */
};
_Static_assert(sizeof(struct latscope_rmid_owner) == 64, "latscope_rmid_owner has no padding");

/* What RMID 0 stood for. */
enum latscope_rmid_kind {
	LATSCOPE_RMID_PROCESS, /* not 0: a process that has an RMID */
	LATSCOPE_RMID_WAITING, /* a process that has no RMID */
	LATSCOPE_RMID_KERNEL, /* a kernel thread */
	LATSCOPE_RMID_IDLE,
	LATSCOPE_RMID_KINDS,
};

enum latscope_rmid_end {
	LATSCOPE_RMID_TICK,
	LATSCOPE_RMID_SWITCH,
};

struct latscope_rmid_sample {
	__u64 time_ns; /* the span is [since_ns, time_ns) */
	__u64 since_ns;
	__u32 cpu;
	__u32 rmid;
	__u32 kind; /* enum latscope_rmid_kind */
	__u32 end; /* enum latscope_rmid_end: what ended the span */
	__u32 switches; /* context switches in it, including the one that ended it */
	__u32 pad;
};
_Static_assert(sizeof(struct latscope_rmid_sample) == 40, "latscope_rmid_sample");

enum latscope_rmid_event {
	LATSCOPE_RMID_OCCUPANCY = 1, /* numbers as in IA32_QM_EVTSEL */
	LATSCOPE_RMID_MBM_TOTAL = 2,
	LATSCOPE_RMID_MBM_LOCAL = 3,
};

enum latscope_rmid_status {
	LATSCOPE_RMID_VALUE, /* `bytes` is valid */
	/* first reading of a counter that only goes up: nothing to compare with */
	LATSCOPE_RMID_BASELINE,
	LATSCOPE_RMID_UNAVAILABLE, /* the CPU has no data yet (bit 62) */
	LATSCOPE_RMID_ERROR, /* the CPU does not know the RMID or event (bit 63), or the register */
	LATSCOPE_RMID_WRAPPED, /* the counter may have overflowed more than once since since_ns */
};

struct latscope_rmid_read {
	__u64 time_ns;
	__u64 since_ns; /* MBM: time of the reading that `bytes` counts from; occupancy: time_ns */
	__u64 bytes; /* only with LATSCOPE_RMID_VALUE, else 0 and invalid */
	__u64 raw; /* the value of IA32_QM_CTR; 1 << 63 if access to it faults */
	__u32 rmid;
	__u32 domain; /* the L3 cache: the lowest CPU that was online in it */
	__u32 event; /* enum latscope_rmid_event */
	__u32 status; /* enum latscope_rmid_status */
};
_Static_assert(sizeof(struct latscope_rmid_read) == 48, "latscope_rmid_read has no padding");

#endif
