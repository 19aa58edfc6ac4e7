/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface between the probes and user space. Nothing is sent per event: a probe adds each
 * sample to a per-CPU cell (and, with a split, to a row); user space reads the totals and
 * subtracts.
 */
#ifndef LATSCOPE_EVENT_H
#define LATSCOPE_EVENT_H

#include "hist.h"

#define LAT_COMM_LEN 16

/*
 * Counters of one metric. The first ones are the terms of the conservation line:
 *
 *   seen = recorded + filtered + missed_start + unmatched + map_full + negative + excluded
 *          + continued
 *
 * recorded is not stored: it is the sum of the slots. Counters after LAT_TERMS are not part of the
 * line. docs/format.md has their names, and their meaning for each probe.
 */
enum lat_count {
	LAT_SEEN, /* end events: fault returns, switch-ins, request completions */
	LAT_FILTERED, /* the user's filters left it out */
	LAT_MISSED_START, /* began before the window, or its start was not observed */
	LAT_UNMATCHED, /* the start found belongs to something else */
	LAT_MAP_FULL, /* no room to keep the start */
	LAT_NEGATIVE, /* the clock went backwards */
	LAT_EXCLUDED, /* not of the measured kind (passthrough, flush bookkeeping) */
	LAT_CONTINUED, /* did not end the wait: fault to be retried, partial completion */
	LAT_TERMS,
	LAT_ABANDONED = LAT_TERMS, /* starts that a newer start of the same owner replaced */
	LAT_JOINED, /* events that a later recorded one included: continued, or not seen */
	LAT_REQUEUED, /* requests the driver gave back to the queue */
	LAT_ERRORS, /* recorded ones that ended in an error */
	LAT_FALLBACK, /* recorded with latscope's own stamp because the kernel had none */
	LAT_FALLBACK_NS, /* sum of those, ns */
	LAT_OTHER_KEY, /* samples in the row (other), because no row was left for their key */
	LAT_NOT_KEPT, /* starts that found no room in the map: each is a missed_start later */
	LAT_CHECKED, /* requests whose kernel stamp was compared with latscope's own */
	LAT_SKEW_NS, /* sum of the differences, ns */
	LAT_PARTIAL, /* recorded, but what came before a migration could not be known */
	LAT_OTHER_MOST_NS, /* no key has more time than this in the row (other) */
	LAT_FILTERED_NS, /* time of the filtered ones, as far as it is known */
	LAT_MISSED_START_NS, /* time of missed_start: an upper bound */
	LAT_UNMATCHED_NS, /* time of unmatched: an upper bound */
	LAT_UNTIMED, /* events of missed_start without a bound, if others have one */
	LAT_UNSTAMPED, /* runqlat: tasks preempted on their way to sleep: the kernel has no stamp */
	LAT_IDLE, /* runqlat: switches to the idle task */
	LAT_KERNEL_NS, /* runqlat: waiting time that the kernel has added for the same events, ns */
	/*
	 * runqlat: the part of kernel_ns that may be from before the window opened; iolat: by how
	 * much the kernel may have ended the time of requests earlier, as they completed in batches
	 */
	LAT_EARLY_NS,
	/* iolat: those of LAT_ERRORS that ended in one of these */
	LAT_ERRORS_TIMEOUT,
	LAT_ERRORS_IO,
	LAT_ERRORS_MEDIUM,
	LAT_COUNTS = 36, /* a cell is a multiple of a cache line */
};

/* Latencies of one metric (one CPU's share), or of one key. Totals since the window opened. */
struct lat_hist {
	__u64 slots[HIST_SLOTS];
	__u64 sum_ns;
	__u64 max_ns;
	__u64 tail; /* samples >= lat_config.tail_ns */
};
_Static_assert(sizeof(struct lat_hist) == (3 + HIST_SLOTS) * 8, "lat_hist has no padding");

/*
 * Map `cells`, key = cpu, value = one cell per metric of the probe. Programs of one CPU may
 * interrupt each other, never themselves (tracepoints: since 6.1, 05b24ff9b2cf). So the histogram
 * and the counters need no atomics, except those of lost starts, which several programs write.
 * Besides its slot, each sample writes to one cache line only: the sums, and LAT_SEEN.
 */
struct lat_cell {
	struct lat_hist hist;
	__u64 counts[LAT_COUNTS];
};
_Static_assert(sizeof(struct lat_cell) == LAT_COUNTS * 8 + sizeof(struct lat_hist), "lat_cell");
_Static_assert(__builtin_offsetof(struct lat_cell, hist.sum_ns) / 64 ==
			       __builtin_offsetof(struct lat_cell, counts[LAT_SEEN]) / 64 &&
		       sizeof(struct lat_cell) % 64 == 0,
	       "one line");

/* Dimensions a histogram can be split by; lat_config.by is a mask of 1 << these. */
enum lat_by {
	LAT_BY_PROCESS,
	LAT_BY_THREAD,
	LAT_BY_CGROUP,
	LAT_BY_DISK, /* iolat: id is major << 20 | minor */
	LAT_BY_OP, /* iolat: enum lat_op */
	LAT_BY_MODE, /* memlat: enum lat_mode */
	LAT_BY_TYPE, /* memlat: enum lat_type */
	LAT_BY_ACCESS, /* memlat: enum lat_access */
	LAT_BY_PAGE, /* memlat: enum lat_page */
	LAT_BY_VECTOR, /* softirq: number of the vector, as in linux/interrupt.h */
	LAT_BY_KIND, /* memlat: enum lat_kind */
	LAT_BY_CPU, /* id is its number */
	LAT_BY_COUNT,
};

enum lat_op { LAT_OP_READ, LAT_OP_WRITE, LAT_OP_DISCARD, LAT_OP_FLUSH, LAT_OP_OTHER };
enum lat_mode { LAT_MODE_USER, LAT_MODE_KERNEL, LAT_MODE_GUP };
enum lat_type { LAT_TYPE_MINOR, LAT_TYPE_MAJOR, LAT_TYPE_FAILED };
enum lat_access { LAT_ACCESS_READ, LAT_ACCESS_WRITE, LAT_ACCESS_EXEC };
enum lat_page { LAT_PAGE_BASE, LAT_PAGE_THP, LAT_PAGE_HUGETLB };
/* A fault of which several are true has the last one of them. */
enum lat_kind {
	LAT_KIND_ANONYMOUS,
	LAT_KIND_FILE,
	LAT_KIND_COW,
	LAT_KIND_HUGETLB,
	LAT_KIND_NUMA,
	LAT_KIND_SWAP,
	LAT_KIND_MIGRATION,
	LAT_KIND_UFFD,
};

/* Map `keys`: hash from lat_key to the number of its row, 1..lat_config.rows - 1. */
struct lat_key {
	__u64 id;
	__u32 by; /* enum lat_by */
	__u32 metric;
};
_Static_assert(sizeof(struct lat_key) == 16, "lat_key has no padding");

/*
 * Map `owners`: by row, the key that has it. User space finds new keys here, in shared memory: a
 * system call on a map keeps kprobes and perf events of its CPU from running programs.
 */
struct lat_owner {
	struct lat_key key;
	char comm[LAT_COMM_LEN]; /* of the task or disk behind the key; empty: it is neither */
	__u32 ready; /* written last, when the rest is complete */
	__u32 pad;
};
_Static_assert(sizeof(struct lat_owner) == 40, "lat_owner has no padding");

/* After those rows: one (other) row per split and metric. */
#define LAT_METRICS 4
#define LAT_OTHER_ROW(rows, by, metric) ((rows) + LAT_METRICS * (by) + (metric))
#define LAT_ROWS_TOTAL(rows) LAT_OTHER_ROW(rows, LAT_BY_COUNT, 0)

/*
 * Map `light`: hash of keys without a row, since user space last emptied it. Their samples are also
 * in the row (other). User space gives rows to the heaviest.
 */
struct lat_light {
	__u64 sum_ns;
	__u64 max_ns;
	__u32 tail;
	__u32 counts[HIST_LOG2_BUCKETS];
	char comm[LAT_COMM_LEN]; /* as in struct lat_owner */
};
_Static_assert(sizeof(struct lat_light) == 36 + 4 * HIST_LOG2_BUCKETS &&
		       sizeof(struct lat_light) % 8 == 0,
	       "lat_light has no padding");

#define LAT_CPUS (1 << 13) /* the kernel has no more */

/* Read-only settings, set between open and load. 0 and "" mean "not filtered". */
struct lat_config {
	__u64 tail_ns;
	__u64 cgroup; /* id of a cgroup v2; its descendants count too */
	__u32 tgid;
	__u32 tid;
	__u32 disk; /* major << 20 | minor */
	__u32 by; /* mask of 1 << enum lat_by */
	__u32 rows; /* rows 1..rows-1 may be assigned, */
	__u32 identity; /* iolat: programs that see the submitter are loaded */
	__u32 flush_seq; /* iolat: RQF_FLUSH_SEQ, the bit in rq_flags */
	__u32 io_stat; /* iolat: RQF_IO_STAT, where start_time_ns depends on it; else 0 */
	__u32 again; /* the programs are attached twice, because the kernel preempts them */
	/* iolat: the kernel stamps requests with a clock that is cached in the plug */
	__u32 cached;
	__u32 first_rows; /* BPF assigns rows 1..first_rows-1, user space the others */
	__u32 metrics; /* optional metrics that are measured: mask of 1 << index */
	/* 0: slow samples are not explained; else 1 + the split that names victims and culprits */
	__u32 why;
	__u32 cpus; /* 1: only those in cpu_mask */
	char comm[LAT_COMM_LEN];
	__u64 cpu_mask[LAT_CPUS / 64];
};
_Static_assert(sizeof(struct lat_config) == 88 + LAT_CPUS / 8, "lat_config has no padding");

#ifdef LATSCOPE_FAULTS
/* Faults that tests inject into a probe: `validate` must find each of them. */
enum lat_inject {
	LAT_INJECT_NONE,
	LAT_INJECT_DROP, /* every tenth event is neither seen nor recorded */
	LAT_INJECT_LEAK, /* every tenth is seen, but not recorded and not accounted for */
	LAT_INJECT_DOUBLE, /* every tenth counts twice */
	LAT_INJECT_SHIFT, /* goes to the slot of twice the latency */
	LAT_INJECT_UNIT, /* treats ns as us */
	LAT_INJECT_STALE, /* the start is that of the previous event */
	LAT_INJECT_LATE, /* the start is stamped after a quarter of the latency */
	/* In what `why` says. */
	LAT_INJECT_CPU, /* blames who had another CPU */
	LAT_INJECT_TURN, /* every third turn of a wait, or request on the disk, has no culprit */
	LAT_INJECT_IDLE, /* blames a task for an idle CPU */
	LAT_INJECT_LIMIT, /* does not know quotas and budgets */
	LAT_INJECT_WAKER, /* the waker is who had the CPU, also in an interrupt */
	LAT_INJECT_RAISED, /* a softirq is not the work of the task that raised it */
	LAT_INJECT_ALONE, /* a request would have taken no time alone on its disk */
	LAT_INJECT_JOURNAL, /* does not know the journal of a file system */
	LAT_INJECTS,
};
#endif

/*
 * Rows of keys that had samples lately: one word each, so that it is read and written at once.
 * Above the row it has the dimension, from 1, and the lower half of the ID, which tells two keys of
 * a dimension apart: IDs are smaller, except those of cgroups, where the kernel uses a lower half
 * again only after 2^31 files of cgroups. The metric is in the place. 0: none. User space empties
 * it when rows get other keys.
 */
#define LAT_RECENT (1 << 14)
#define LAT_RECENT_METRICS 4 /* words of a key */
#define LAT_RECENT_ROW_BITS 28
#define LAT_RECENT_AT(id, by)                                                      \
	(((__u32)(id) + (by) * (LAT_RECENT / LAT_RECENT_METRICS / LAT_BY_COUNT)) * \
	 LAT_RECENT_METRICS % LAT_RECENT)
#define LAT_RECENT_WORD(id, by, row) \
	((__u64)(id) << 32 | ((__u64)(by) + 1) << LAT_RECENT_ROW_BITS | (row))
_Static_assert(LAT_METRICS <= LAT_RECENT_METRICS, "each metric of a key has a word");
_Static_assert(LAT_BY_COUNT < 1 << (32 - LAT_RECENT_ROW_BITS), "a dimension is above the row");

/* What user space changes while the programs run. */
struct lat_control {
	__u32 armed; /* samples count only while this is 1 */
	__u32 next_row;
	__u64 opened_ns; /* when the window opened; 0: not yet */
	/* When it closed; 0: not yet. From then on waits in flight stay as they are. */
	__u64 closed_ns;
	__u64 unnamed_ns; /* time of samples that no key has: it is unknown, or `light` was full */
	__u64 recent[LAT_RECENT];
};
_Static_assert(sizeof(struct lat_control) == 32 + 8 * LAT_RECENT, "lat_control has no padding");

/* Waits in flight at the end of the window. */
struct lat_in_flight {
	__u64 count;
	__u64 oldest_ns; /* age of the oldest */
	__u64 sum_ns; /* sum of all ages */
	/* Those of `count` that began before the attach; their age is the time since the attach. */
	__u64 before;
};
_Static_assert(sizeof(struct lat_in_flight) == 32, "lat_in_flight has no padding");

/* Whose wait is the oldest of them. */
struct lat_oldest {
	__u64 age_ns;
	__u32 tgid; /* 0: unknown, or there is none */
	__u32 pad;
	char process[LAT_COMM_LEN]; /* name of the process */
};
_Static_assert(sizeof(struct lat_oldest) == 32, "lat_oldest has no padding");

#endif
