/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of iolat and user space share. */
#ifndef LATSCOPE_PROBES_IOLAT_TYPES_H
#define LATSCOPE_PROBES_IOLAT_TYPES_H

#include <latscope/why.h>

/* The task that submitted a request, as far as filters or splits need it. */
struct iolat_submitter {
	__u64 pid_tgid;
	/* 0: the submitter is unknown, or not needed; 1: it is known, but its cgroup not needed */
	__u64 cgroup;
	__u64 unwanted; /* the filters left it out */
};

/* Value of iolat's `start_ts`, key (u64)struct request *. */
struct iolat_start {
	__u64 queue_ns; /* when the block layer got it, by the kernel; distinguishes requests */
	__u64 issue_ns; /* first issue to the driver; 0: not yet */
	__u64 lag_ns; /* as in struct iolat_stamp */
	struct iolat_submitter submitter;
	__u32 requeues; /* times the driver gave it back */
	__u32 counted; /* it is in the count `looked_up` */
	char comm[LAT_COMM_LEN]; /* of the submitter; empty: not needed */
	char leader_comm[LAT_COMM_LEN]; /* of its process */
};
_Static_assert(sizeof(struct iolat_start) == 88, "iolat_start has no padding");

/*
 * Iolat's `table`, in .bss: own stamps of requests in flight, and who submitted them. If the name
 * of the submitter is needed, as it has no row yet, or if both places of its line are taken, the
 * request goes to `start_ts`.
 */
#define IOLAT_LINES (1 << 13)
#define IOLAT_WAYS 2
#define IOLAT_DONE 1 /* in place of issue_ns; no real time is so early */

struct iolat_stamp {
	__u64 request; /* as the key of `start_ts`; 0: free */
	__u64 queue_ns; /* as in struct iolat_start */
	/* 0: not issued, or its data are done; IOLAT_DONE: it has completed */
	__u64 issue_ns;
	__u64 lag_ns; /* how far start_time_ns is behind the own clock; 0: not at all */
	struct iolat_submitter submitter;
	__u64 pad;
};
_Static_assert(sizeof(struct iolat_stamp) == 64, "iolat_stamp: one cache line");

/* Iolat's `bio_lines`, with the metric wait: bios without a request. */
#define IOLAT_BIO_LINES (1 << 9)

/* Iolat: the counts from LAT_ERRORS_TIMEOUT on. */
#define IOLAT_ERROR_KINDS 3

/* Iolat's `sent_bios`: bios that drivers above the disks, such as dm, send on. */
#define IOLAT_SENT_BIOS (1 << 13)

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

#endif
