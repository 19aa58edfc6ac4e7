/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording in memory: the probes fill it, the writers write it, `report` reads it back from
 * run.db. Times in ns. Histograms are totals since the window opened; an interval holds only its
 * own samples, so the totals are the sums of the intervals.
 */
#ifndef LATSCOPE_CORE_RUN_H
#define LATSCOPE_CORE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <latscope/event.h>

#include "sparse.h"
#include "frames.h"
#include "table.h"
#include "why.h"

#define RUN_SCHEMA 3 /* docs/format.md */
#define RUN_METRICS 6 /* maximum metrics of a probe */
#define RUN_PROBES 8
#define RUN_MORE 8 /* further tables of a probe, after its own and the two of `why` */
#define RUN_TABLES (3 + RUN_MORE) /* maximum tables of a probe */
#define RUN_ALL_TABLES (1 + RUN_PROBES * RUN_TABLES) /* and of a run */
#define RUN_LABELS 16
#define RUN_NAME 64
#define RUN_TEXT 256
#define RUN_HOW 1024
#define RUN_FILTER 4608 /* of a path and other filters */

/* A key of a split, its name and its latencies. */
struct run_key {
	struct lat_key key; /* id == RUN_OTHER_ID: all keys without a row of their own */
	char name[RUN_NAME];
	struct sparse hist;
};
#define RUN_OTHER_ID UINT64_MAX

#define RUN_NOT_ENDED (-1) /* no status of waitpid() */

struct run_data {
	struct lat_cell metrics[RUN_METRICS];
	struct run_key *keys; /* owned; in order of first appearance, the same in every interval */
	size_t nr_keys;
};

struct run_metric {
	char name[RUN_NAME]; /* "device" */
	char what[RUN_TEXT]; /* "block request, first issue to completion" */
};

/* The run time of the probe's own programs, measured over a part of the window. */
struct run_cost {
	uint64_t runs; /* program runs that were timed; 0: not measured */
	uint64_t run_ns; /* their sum */
	uint64_t timed_ns; /* length of that part */
	uint64_t timed_events; /* events of the first metric in that part */
};

/*
 * The probe's sum and the kernel's, as ranges: the kernel's account is read a little before or
 * after the window opens and closes, and lost events may or may not belong to it.
 */
struct run_checked {
	bool known; /* the sum could be checked */
	uint64_t ours_low, ours_high; /* 0, UINT64_MAX: no limit at this end */
	uint64_t kernel_low, kernel_high;
	uint64_t tolerance; /* beyond the ranges */
};

/* The probe's sums, compared with the kernel's own account of the same window. */
struct run_check {
	char source[RUN_NAME]; /* "/proc/schedstat"; empty: none */
	char why[RUN_TEXT]; /* why it was not checked, or what limits the check */
	struct run_checked events;
	struct run_checked time; /* in ns */
};

/*
 * Further tables: of tierlat what each CHA counted, the pages of processes, what it changed; of
 * where what threads slept for, its worst waits, who caused waits, long sleeps by stack, and what
 * it did not see.
 */
enum run_more {
	RUN_CHA,
	RUN_PAGES,
	RUN_ACTIONS,
	RUN_SLEEPS,
	RUN_WAITS,
	RUN_CAUSES,
	RUN_STACKS,
	RUN_GAPS,
};

struct run_probe {
	char name[RUN_NAME]; /* "iolat" */
	char method[RUN_NAME]; /* "stamps" */
	char mechanism[RUN_HOW]; /* one sentence: how it measures, and what it misses */
	char refused[RUN_TEXT]; /* not empty: the reason why it could not run; the rest is unset */
	char *filter; /* the filters that apply, as in run.filter; NULL: none; owned */
	unsigned int nr_metrics; /* metrics[0] is the one in <probe>.csv; 0: it has a table */
	struct run_metric metrics[RUN_METRICS];
	uint32_t by; /* splits: mask of 1 << enum lat_by */
	uint64_t tail_ns; /* samples of so much or more are its tail; 0: it has none */
	unsigned int generation; /* changes when the keys of `total` are given up for others */
	struct run_data total;
	struct lat_in_flight in_flight; /* waits in flight when the window closed */
	bool in_flight_age_known;
	char in_flight_of[RUN_NAME]; /* process with the oldest, iolat: disk; empty: unknown */
	uint64_t recursion_missed; /* maximum ends for which the kernel ran no program */
	uint64_t no_event; /* ends that the kernel counts, but has no event for: at least */
	struct run_cost cost;
	struct run_check check;
	struct table *table; /* rows of the current interval; NULL: no table; owned */
	struct table *more[RUN_MORE]; /* as named by run__table(); NULL: it has none; owned */
	struct run_why *why; /* why samples were slow; NULL: not asked; owned */
};

/* Pressure of the machine, or of the cgroup that filters, by interval: see pressure.h. */
struct run_pressure {
	char *cgroup; /* its path below the mount; NULL: it is of the machine; owned */
	struct table *table; /* NULL: not recorded; owned */
	char why[RUN_TEXT]; /* not empty: what of it is unknown, and why */
};

struct run_label {
	char key[RUN_NAME];
	char value[RUN_TEXT];
};

struct run {
	char start_utc[RUN_NAME]; /* ISO 8601 */
	uint64_t start_mono_ns; /* CLOCK_MONOTONIC when the window opened */
	/* CLOCK_REALTIME and CLOCK_BOOTTIME minus CLOCK_MONOTONIC then; both 0: unknown */
	uint64_t real_offset_ns, boot_offset_ns;
	uint64_t duration_ns;
	uint64_t span_from_ns, span_to_ns; /* of a recording; 0 and 0: it is the whole */
	uint64_t interval_ns;
	char *workload; /* command line; NULL: none */
	int workload_status; /* as waitpid() gives it; RUN_NOT_ENDED: that is not known */
	uint64_t workload_outlived; /* processes that it had started and that outlived the window */
	bool workload_uncounted; /* how many these are is not known */
	bool complete; /* false: ended by an error, or read while it was cut off or... */
	bool running; /* ...still recording */
	char *host; /* JSON object of host__describe(); owned */
	char *filter; /* the filters in force, as one line: "disk sda (iolat)"; NULL: none; owned */
	unsigned int nr_labels;
	struct run_label labels[RUN_LABELS];
	uint32_t why_by; /* 1 + enum lat_by of victims and culprits; 0: nothing is explained */
	struct frames frames; /* names for the stacks of slow samples; sorted */
	char frames_why[RUN_TEXT]; /* not empty: why some names are missing */
	struct run_pressure pressure;
	unsigned int nr_probes;
	struct run_probe probes[RUN_PROBES];
};

struct run_interval {
	uint64_t start_ns, end_ns; /* since the window opened */
	const struct run_data *delta; /* one per probe of the run; empty for refused probes */
	uint64_t rows_ns; /* subtracted from the time of the rows of tables; earlier ones get 0 */
};

/* Frees what the run owns, not the run itself. */
void run__clear(struct run *run);

/* The same, and frees the run itself. NULL is fine. */
void run__free(struct run *run);

/* The probe of this name; NULL: the run has none. */
const struct run_probe *run__probe(const struct run *run, const char *name);

/* A table of a probe and its name, "runqlat_why"; NULL: it has none of that number. */
struct table *run__table(const struct run_probe *probe, unsigned int which, char name[RUN_NAME]);

/*
 * The same of all tables of the run, `nth` below RUN_ALL_TABLES. The first one is pressure.
 */
struct table *run__nth_table(const struct run *run, unsigned int nth, char name[RUN_NAME]);

/* The name of run_probe.more[i], after that of the probe: "cha" and the like. */
const char *run__more(unsigned int i);

/* Ends the interval of all tables: table__fold(), or table__rewind(). 0 or -ENOMEM. */
int run__end_rows(struct run *run, bool folds);

/* The sum of the slots. */
uint64_t run__recorded(const struct lat_cell *cell);

/* 0 if the conservation line of event.h balances, else seen minus the sum of the terms. */
int64_t run__imbalance(const struct lat_cell *cell);

/*
 * Events that ended in the window but are not in the histogram of the metric: missed_start,
 * unmatched, map_full, negative, and unseen ends. The kernel counts unseen ends
 * (recursion_missed, and no_event, which are others); some of the former are also counted as
 * abandoned when the task's next event shows them.
 */
uint64_t run__lost(const struct run_probe *probe, unsigned int metric);

/* The unseen ends among them. */
uint64_t run__unseen(const struct run_probe *probe, unsigned int metric);

/*
 * The maximum time of these events. False: the time of some is unknown, and *ns is that of the
 * others.
 */
bool run__lost_ns(const struct run_probe *probe, unsigned int metric, uint64_t *ns);

/* The same for one term of the conservation line; 0 for terms that lose no time. */
bool run__term_ns(const struct lat_cell *cell, unsigned int term, uint64_t *ns);

/*
 * Copies a cell while programs count into it. Repeats the copy while it contains half an event. The
 * final copy may still contain one, if a CPU stops in the middle of an event.
 */
void run__copy_cell(struct lat_cell *copy, const struct lat_cell *cell);

/*
 * Adds the cells of all CPUs to `sum`, with copies as above. They are `stride` bytes apart. Of a
 * CPU on which nothing was counted yet, only a few lines are read: there may be many such CPUs.
 */
void run__add_cells(struct lat_cell *sum, const struct lat_cell *first, size_t stride, int cpus);

/*
 * NULL if there is none. A linear search: keep the indices of keys that are used again. The pointer
 * is valid until the next run__add_key().
 */
struct run_key *run__find_key(const struct run_data *data, const struct lat_key *key);

/*
 * Appends a key with an empty histogram, even if the key exists. Only this function may allocate
 * data->keys. 0 or -ENOMEM.
 */
int run__add_key(struct run_data *data, const struct lat_key *key, const char *name);

/* Empties the histograms and counters, keeps the keys. */
void run__zero_data(struct run_data *data);

/*
 * Adds histograms and counters, keys by position; appends keys that `to` lacks. 0, -ENOMEM, or
 * -EOVERFLOW: too many events to count.
 */
int run__add_data(struct run_data *to, const struct run_data *from);

/* Frees the keys. */
void run__clear_data(struct run_data *data);

/*
 * The keys of one split of one metric that have samples, ordered by total time, largest first;
 * (other) is last. Returns their number, or -ENOMEM. The caller must free *ranked.
 */
ssize_t run__ranked_keys(const struct run_data *data, enum lat_by by, unsigned int metric,
			 const struct run_key ***ranked);

#endif
