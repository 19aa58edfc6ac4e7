/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a recording is, in memory: the probes fill it, the writers put it out, `report` reads it
 * back from run.db. Times in ns. Histograms are totals since the window opened; an interval holds
 * what was added within it, so that the totals are the sums of the intervals.
 */
#ifndef LATSCOPE_CORE_RUN_H
#define LATSCOPE_CORE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <latscope/event.h>

#include "sparse.h"
#include "table.h"

#define RUN_SCHEMA 2 /* docs/format.md */
#define RUN_METRICS 6 /* most metrics a module has */
#define RUN_PROBES 8
#define RUN_LABELS 16
#define RUN_NAME 64
#define RUN_TEXT 256
#define RUN_HOW 1024

/* One line of a split: a key, its name as users know it, its latencies. */
struct run_key {
	struct lat_key key; /* id == RUN_OTHER_ID: the keys that found no row left */
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

/* What the probe cost: its programs' own run time, measured over a part of the window. */
struct run_cost {
	uint64_t runs; /* program runs that were timed; 0: not measured */
	uint64_t run_ns; /* their sum */
	uint64_t timed_ns; /* for how long they were timed */
	uint64_t timed_events; /* events of the primary metric meanwhile */
};

/*
 * A sum of ours and the same of the kernel's, as ranges: what it can be at most and at least, for
 * the window opens and shuts a little before or after the kernel's account is read, and what is
 * counted as lost may or may not be in it.
 */
struct run_checked {
	bool known; /* could be checked */
	uint64_t ours_low, ours_high; /* 0, UINT64_MAX: no limit on that side */
	uint64_t kernel_low, kernel_high;
	uint64_t tolerance; /* beyond the ranges */
};

/* The module's sums held against the kernel's own account of the same window. */
struct run_check {
	char source[RUN_NAME]; /* "/proc/schedstat"; empty: there is none */
	char why[RUN_TEXT]; /* why it was not checked, or what limits the check */
	struct run_checked events;
	struct run_checked time; /* in ns */
};

struct run_probe {
	char name[RUN_NAME]; /* "iolat" */
	char method[RUN_NAME]; /* "stamps" */
	char mechanism[RUN_HOW]; /* one sentence: how the number was got, and what it lacks */
	char refused[RUN_TEXT]; /* not empty: could not run; nothing below holds */
	char *filter; /* those of the run that it heeds; NULL: none, or read back; owned */
	unsigned int nr_metrics; /* metrics[0] is the one in <module>.csv; 0: it has a table */
	struct run_metric metrics[RUN_METRICS];
	uint32_t by; /* mask of 1 << enum lat_by: what keys there are */
	struct run_data total;
	struct lat_open open; /* waits open when the window closed */
	bool open_age_known;
	uint64_t recursion_missed; /* ends that the kernel ran no program for, at most */
	struct run_cost cost;
	struct run_check check;
	struct table *table; /* rows of the interval in flight; NULL: it has none; owned */
};

/* How much of a process was within the window: what its waits are shares of. */
struct run_life {
	uint64_t id; /* as in the keys by process */
	uint64_t lived_ns;
	uint64_t thread_ns; /* of all its threads, added up */
	bool ended; /* before the window shut */
};

struct run_label {
	char key[RUN_NAME];
	char value[RUN_TEXT];
};

struct run {
	char start_utc[RUN_NAME]; /* ISO 8601 */
	uint64_t start_mono_ns; /* CLOCK_MONOTONIC when the window opened */
	uint64_t duration_ns;
	uint64_t interval_ns;
	uint64_t tail_ns;
	char *workload; /* command line; NULL: none */
	int workload_status; /* as waitpid() gives it; RUN_NOT_ENDED: that is not known */
	uint64_t workload_outlived; /* processes that it had started and that outlived the window */
	bool workload_uncounted; /* how many these are is not known */
	bool complete; /* false: an error ended it, or it was read when it was cut off, or... */
	bool running; /* ...still went on */
	char *host; /* JSON object of host__describe(); owned */
	char *filter; /* the filters in force, as one line: "disk sda (iolat)"; NULL: none; owned */
	unsigned int nr_labels;
	struct run_label labels[RUN_LABELS];
	struct run_life *lives; /* of keys by process, in order of their ids; owned */
	size_t nr_lives;
	char lives_why[RUN_TEXT]; /* not empty: why there are none, or some are missing */
	unsigned int nr_probes;
	struct run_probe probes[RUN_PROBES];
};

struct run_interval {
	uint64_t start_ns, end_ns; /* since the window opened */
	/* One for each probe of the run, in the same order; those refused are empty. */
	const struct run_data *delta;
};

/* Frees what the run owns, not the run itself. */
void run__clear(struct run *run);

/* That, and the run itself, which came of calloc(). NULL is fine. */
void run__free(struct run *run);

/* Ends the interval of all tables: table__fold(). 0 or -ENOMEM. */
int run__fold_tables(struct run *run);

/* NULL: how long it lived is not known. */
const struct run_life *run__find_life(const struct run *run, uint64_t id);

/* recorded = sum of the slots. */
uint64_t run__recorded(const struct lat_cell *cell);

/* 0 if the conservation line of event.h balances, else seen minus the sum of the terms. */
int64_t run__imbalance(const struct lat_cell *cell);

/*
 * Events that ended in the window and should be in the histogram of the metric, but are not:
 * missed_start, unmatched, map_full, negative, and those whose end was not seen. These are counted
 * by the kernel (recursion_missed), and as abandoned when the next event of the task shows it.
 */
uint64_t run__lost(const struct run_probe *probe, unsigned int metric);

/* Of these, those whose end was not seen. */
uint64_t run__unseen(const struct run_probe *probe, unsigned int metric);

/*
 * The time that these events may stand for, at most. False: of some it is not known, and *ns is
 * that of the others.
 */
bool run__lost_ns(const struct run_probe *probe, unsigned int metric, uint64_t *ns);

/* The same of one term of the conservation line; terms that no time is lost by have 0. */
bool run__term_ns(const struct lat_cell *cell, unsigned int term, uint64_t *ns);

/*
 * Copies a cell that is being counted into: again, as long as an event is half in the copy. So it
 * may still be in the end where a CPU stands still in the middle of one.
 */
void run__copy_cell(struct lat_cell *copy, const struct lat_cell *cell);

/*
 * NULL if there is none. It searches: who adds to the same keys again keeps their indices.
 * A pointer into keys holds until the next run__add_key().
 */
struct run_key *run__find_key(const struct run_data *data, const struct lat_key *key);

/*
 * Appends a key with an empty histogram, even if it is there already; nothing else may have made
 * data->keys. 0 or -ENOMEM.
 */
int run__add_key(struct run_data *data, const struct lat_key *key, const char *name);

/* Empties the histograms and counters, keeps the keys. */
void run__zero_data(struct run_data *data);

/*
 * Adds what was measured, keys by position; those that `to` lacks are appended. 0, -ENOMEM, or
 * -EOVERFLOW: more events than can be counted.
 */
int run__add_data(struct run_data *to, const struct run_data *from);

/* Frees the keys. */
void run__clear_data(struct run_data *data);

/*
 * The keys of one split of one metric that have samples, by total time, the largest first, those
 * without a row of their own last. Returns how many, or -ENOMEM; *ranked is to be freed.
 */
ssize_t run__ranked_keys(const struct run_data *data, enum lat_by by, unsigned int metric,
			 const struct run_key ***ranked);

#endif
