/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OFF and ON: does the metric react to a load as it must? Every side of every experiment is a
 * window of its own, repeated, all in random order; the medians of the replicates are compared.
 */
#ifndef LATSCOPE_SELFTEST_REACT_H
#define LATSCOPE_SELFTEST_REACT_H

#include "window.h"

/* What a window has shown. */
struct reaction {
	double rate; /* events per second of the metric */
	double p99_ns;
	double mean_ns;
	double in_flight; /* rate times mean: Little's law */
	double made; /* events per second that the load made, by its own count */
	double slept, called; /* the same of the threads: bounds of it; 0: not known */
	double slept_mean_ns;
	double others; /* requests that others made of that disk, for each of the load's */
};

#define REACT_GROUPS 8

/* One side: a load, and what is measured of it. */
struct group {
	const char *name; /* NULL: after the last one */
	const struct child_work *work;
	/* Fills in work->size bytes of what is asked. false: not with this disk. */
	bool (*ask)(const struct validate *validate, const struct group *group, void *asked);
	/* 0, or as window__measure(). */
	int (*config)(struct window *window, struct lat_config *config);
	/* What is looked at; NULL: all of the metric. */
	void (*hist)(const struct window *window, const struct group *group, struct lat_hist *hist);
	void (*witness)(const struct window *window, const struct group *group,
			struct reaction *reaction); /* or NULL */
	unsigned int metric;
	unsigned int depth; /* of I/O, number of tasks */
	bool writes, sequential;
};

struct experiment {
	struct group groups[REACT_GROUPS];
	/* Given the medians by side; those of a side that could not be made are 0. */
	void (*judge)(const struct validate *validate, const struct reaction *medians);
};

extern const struct experiment memlat_experiment;
extern const struct experiment runqlat_experiment;
extern const struct experiment iolat_experiment;

/* Sorts the values. */
double react__median(double *values, unsigned int count);

/* As validate__module(). */
int react__run(struct validate *validate, const struct experiment *experiment, char why[RUN_TEXT]);

#endif
