/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a probe is shown that has more than histograms. Such a probe NAME has a struct probe_view
 * NAME_view in its folder; text__probe() shows the others.
 */
#ifndef LATSCOPE_PRINT_PROBE_VIEW_H
#define LATSCOPE_PRINT_PROBE_VIEW_H

#include <stdio.h>

#include <core/run.h>

struct bar;
struct bar_link;
struct bar_wait;
struct bars;
struct json_object;
struct rundb;
struct text_style;
struct timeline;
struct writer_ops;

/* All may be 0 or NULL. */
struct probe_view {
	/* Has it the table that the functions below expect? A file may contain anything. */
	bool (*knows)(const struct run_probe *probe);
	/* The table of the window. 0 or -ENOMEM. */
	int (*print)(FILE *out, const struct run *run, const struct run_probe *probe,
		     const struct text_style *style);
	/* The first answer, of all that the run has: at most 24 lines. 0 or -ENOMEM. */
	int (*print_answer)(FILE *out, const struct run *run, const struct run_probe *probe);
	bool prints_recordings; /* ...also in a report; else that prints it as any table */
	/* The same of an interval, for -i; NULL: as any table. */
	int (*print_interval)(FILE *out, const struct run_probe *probe,
			      const struct run_interval *interval, unsigned int top);
	const struct writer_ops *live; /* for -i if it is alone; NULL: writer_live */
	/* The table of --csv, which depends on text_style.more_by; NULL: that of the probe. */
	const struct table *(*table)(const struct run_probe *probe, uint32_t more_by);
	/* That of the whole window, without -i; NULL: the CSV is that of intervals, in any case. */
	void (*print_csv)(FILE *out, const struct run_probe *probe, uint32_t more_by);
	/*
	 * What it adds to the report of a whole recording: *more, which is read after the time line
	 * and freed after an error, too. Errors of rundb.h, and -ENOMEM.
	 */
	int (*read)(void **more, const struct timeline *timeline, struct rundb *db);
	void (*add_json)(struct json_object *to, const void *more);
	void (*free)(void *more);
	/* At the end of the text. `more` is NULL if nothing was read. */
	void (*print_end)(FILE *out, const struct run *run, const void *more);
	/*
	 * Of a probe that divides the time of threads, see bars.h: appends the bars of the folded
	 * rows of `length_ns`, by process, thread or cgroup. A split that `bars->splits` lacks
	 * gives none. 0 or -ENOMEM.
	 */
	int (*bars)(struct bars *bars, const struct run_probe *probe, enum lat_by by,
		    uint64_t length_ns);
	/*
	 * Of a whole window: says of each bar its rank, its group and who caused its waits, as the
	 * first answer does. 0 or -ENOMEM.
	 */
	int (*rank)(struct bars *bars, const struct run *run, const struct run_probe *probe,
		    enum lat_by by);
	/* The sentences of the first answer, a line each; *text is to be freed. 0 or -ENOMEM. */
	int (*sentences)(char **text, const struct run *run, const struct run_probe *probe);
	/*
	 * Adds what of the folded rows is of this bar to empty tables, and folds it: then print()
	 * is about it alone. 0 or -ENOMEM.
	 */
	int (*select)(struct run_probe *to, const struct run_probe *from, enum lat_by by,
		      const struct bar *bar);
	/* A long wait, from a row of an interval. False: it is none, or there are no more rows. */
	bool (*wait)(const struct run_probe *probe, size_t row, struct bar_wait *wait);
	/* Reads the first link of a chain and returns the others; NULL: there is none. */
	const char *(*link)(const char *chain, struct bar_link *link);
};

/* The probe of the run that divides the time of threads, and can; NULL: there is none. */
const struct run_probe *probe_view__of_bars(const struct run *run);

/* The first answer, if a probe of the run can give it. 1: it did; 0: none can; or -ENOMEM. */
int probe_view__print_answer(FILE *out, const struct run *run);

/* NULL: it has none, or another table than it knows. */
const struct probe_view *probe_view__of(const struct run_probe *probe);

/* Of the probes that are built, there are at most RUN_PROBES. NULL: no more. */
const struct probe_view *probe_view__nth(unsigned int nth);

#endif
