/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What passes between the module `rmid` and those who listen to it. This comment is the protocol;
 * docs/rmid.md says what it is for.
 *
 * Who has an RMID
 *
 * A resource monitoring ID stands for one process (thread group), all of its threads included, from
 * its birth until its last thread has run for the last time. It is kept over exec, whichever thread
 * calls it. A zombie has none. RMID 0 is nobody's: it is what runs when the CPU is idle, in kernel
 * threads, and in a process that found no RMID free (enum latscope_rmid_kind tells which). Such
 * processes queue up; the one that waits longest is served at the next birth, switch-in or tick of
 * one that waits, as soon as an RMID may be given out. IDs go from 1 to the parameter `rmids`.
 * Those freed queue up, first in first out, and none is given out before it has been free for
 * `limbo_ns`.
 *
 * Tracepoints
 *
 * All are of the system `latscope`. A record follows the header that every event of tracefs and
 * perf begins with: 8 bytes, or 16 in 6.1 with PREEMPT_RT. `format` has the offsets of its fields.
 * A raw tracepoint program gets a pointer to the record as its only argument: ctx->args[0], to be
 * read by bpf_probe_read_kernel(), gone when the program returns.
 *
 *   rmid_alloc     latscope_rmid_owner     a process gets an RMID
 *   rmid_free      latscope_rmid_owner     its last thread is off the CPU for good
 *   rmid_existing  latscope_rmid_owner     it has had it for a while: answer to "dump", and at exec
 *   rmid_sample    latscope_rmid_sample    what one CPU ran since its sample before
 *   rmid_read      latscope_rmid_read      one monitoring counter of one L3 cache was read
 *
 * Events of the first three are in order: they fire under one lock, `seq` goes up by one from each
 * to the next, and `time_ns` never goes down. A gap in `seq` is a lost record. Who begins to listen
 * writes "dump" then; rmid_existing may tell again what rmid_alloc has told.
 *
 * Samples of one CPU follow each other without a gap: `since_ns` is `time_ns` of the sample before,
 * or the moment this CPU's sampling began. Where it is not, a sample was lost. A CPU is sampled at
 * every multiple of LATSCOPE_RMID_TICK_NS (late by as much as the timer is), and at each switch
 * between two RMIDs, or between two kinds. So a sample's span has one owner, and it is the owner
 * who had that RMID at `time_ns`: limbo makes sure that there is just one within two ticks.
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
 *   rmids 512                  how many may be given out
 *   limbo_ns 2000000
 *   rdt off                    off: none or not wanted; on: PQR_ASSOC is written; conflict: was on,
 *                              until somebody else was found to use it; fault: until a write failed
 *   l3_scale 0                 bytes that a count of the monitoring counters stands for; 0: no RDT
 *   mbm off                    memory bandwidth: off: the CPU does not count it, or rdt is off;
 *                              on: it is read; erratum: the CPU counts it wrong, it is not read
 *   assigned 3                 processes with an RMID
 *   waiting 0                  processes without
 *   allocs 5                   since loading, as are those that follow
 *   frees 2
 *   refused 0                  times that none had been free for long enough
 *   late 0                     allocs that were refused at first
 *   untracked 0                times that a process found the table of processes full; it is looked
 *                              for again when there is room: in seconds at first, in 10 minutes
 *                              at last if that happens again and again
 *   miscounted 0               processes whose threads proved to be other than were counted
 *   ticks 0                    of all CPUs
 *   ticks_late 0               those that came more than 100 us after their time
 *   reads 0                    readings of monitoring counters done
 *   reads_due 0                those it would take to read every RMID in use at each tick
 *   pqr_writes 0               of IA32_PQR_ASSOC, at switches
 *   adoptions 1                times that all CPUs were stopped, to look for processes
 *   unsampled 2-3              isolated CPUs, which have no timer and of which no samples come
 *
 *   RMID TGID START_NS THREADS SINCE_NS COMM
 *
 * where SINCE_NS is when it got the RMID or, with RMID 0, began to wait. COMM is the rest of the
 * line, \ooo for what does not print and for the backslash. More names may come; readers pass over
 * those they do not know. Writing "dump", a newline after it or not, fires rmid_existing for each
 * process that has an RMID; when the write returns, all have fired. Anything else is EINVAL.
 *
 * Parameters (/sys/module/rmid/parameters, read-only, set when it is loaded)
 *
 *   rmids      1 to LATSCOPE_RMID_MAX; 512, or what the machine has if that is less
 *   limbo_ns   2000000 to 1000000000; 2000000
 *   processes  how many can be told apart at a time, 64 to 1048576; 32768
 *   rdt        auto: use it if it is there and works; off; force: write PQR_ASSOC in any case,
 *              for tests (where that is a fault, it is caught, and the module does not load)
 *   isolated   1: sample isolated CPUs, too; 0
 *   budget     of one CPU of each L3 cache, the time that reading may take, in percent of the tick,
 *              1 to 50; 2
 */
#ifndef LATSCOPE_UAPI_RMID_H
#define LATSCOPE_UAPI_RMID_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LATSCOPE_RMID_VERSION 1
#define LATSCOPE_RMID_PROC "/proc/latscope_rmid"
#define LATSCOPE_RMID_MAX 1023 /* the field in IA32_PQR_ASSOC has 10 bits */
#define LATSCOPE_RMID_DEFAULT 512
#define LATSCOPE_RMID_TICK_NS 1000000
#define LATSCOPE_RMID_LIMBO_NS 2000000
#define LATSCOPE_RMID_COMM_LEN 16

/* Why a process got, lost or is said to have an RMID. */
enum latscope_rmid_why {
	LATSCOPE_RMID_BIRTH, /* alloc: as it was made */
	LATSCOPE_RMID_FOUND, /* alloc: it was there when the module was loaded */
	LATSCOPE_RMID_LATE, /* alloc: it had to wait */
	LATSCOPE_RMID_EXIT, /* free */
	LATSCOPE_RMID_DUMP, /* existing: someone asked */
	LATSCOPE_RMID_EXEC, /* existing: has a new comm */
};

struct latscope_rmid_owner {
	__u64 seq;
	__u64 time_ns;
	__u64 start_ns; /* when the process began, CLOCK_BOOTTIME; with tgid, who it is */
	__u64 since_ns; /* alloc: when it began to wait, or time_ns; else: when it got the RMID */
	__u32 rmid; /* never 0 */
	__u32 tgid; /* in the initial PID namespace */
	__u32 why; /* enum latscope_rmid_why */
	__u32 threads; /* free: 0 */
	char comm[LATSCOPE_RMID_COMM_LEN]; /* of the leader, at birth or the last exec */
};
_Static_assert(sizeof(struct latscope_rmid_owner) == 64, "latscope_rmid_owner has no padding");

/* What RMID 0 ran. */
enum latscope_rmid_kind {
	LATSCOPE_RMID_PROCESS, /* not 0: a process that has an RMID */
	LATSCOPE_RMID_WAITING, /* a process that has none */
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
	__u32 switches; /* context switches in it, the one that ended it included */
	__u32 pad;
};
_Static_assert(sizeof(struct latscope_rmid_sample) == 40, "latscope_rmid_sample");

enum latscope_rmid_event {
	LATSCOPE_RMID_OCCUPANCY = 1, /* as IA32_QM_EVTSEL has them */
	LATSCOPE_RMID_MBM_TOTAL = 2,
	LATSCOPE_RMID_MBM_LOCAL = 3,
};

enum latscope_rmid_status {
	LATSCOPE_RMID_VALUE, /* `bytes` is one */
	LATSCOPE_RMID_BASELINE, /* first reading of a counter that goes up: nothing to compare */
	LATSCOPE_RMID_UNAVAILABLE, /* the CPU has no data yet (bit 62) */
	LATSCOPE_RMID_ERROR, /* the CPU knows no such RMID or event (bit 63), or no such register */
	LATSCOPE_RMID_WRAPPED, /* it may have gone round more than once since since_ns */
};

struct latscope_rmid_read {
	__u64 time_ns;
	__u64 since_ns; /* MBM: of the reading that `bytes` counts from; occupancy: time_ns */
	__u64 bytes; /* only with LATSCOPE_RMID_VALUE, else 0 and no value */
	__u64 raw; /* what IA32_QM_CTR gave; 1 << 63 if access to it faults */
	__u32 rmid;
	__u32 domain; /* the L3 cache: the lowest CPU that was online in it */
	__u32 event; /* enum latscope_rmid_event */
	__u32 status; /* enum latscope_rmid_status */
};
_Static_assert(sizeof(struct latscope_rmid_read) == 48, "latscope_rmid_read has no padding");

#endif
