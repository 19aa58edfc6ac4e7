/* SPDX-License-Identifier: BSD-2-Clause */
/* What is checked of each probe: references, an experiment and the overhead. */
#ifndef LATSCOPE_SELFTEST_PROBE_CHECKS_H
#define LATSCOPE_SELFTEST_PROBE_CHECKS_H

#include "window.h"

#define REACT_GROUPS 8
#define PROBE_REFERENCES 3

/*
 * Makes a known amount of the latency and compares it with the window. Returns as
 * window__measure(). -EAGAIN: it was disturbed and is repeated, unless this was the last try.
 */
typedef int (*reference_check)(struct validate *validate, struct window *window);

/* The result of one window of an experiment. */
struct reaction {
	double rate; /* events per second of the metric */
	double p99_ns;
	double mean_ns;
	double in_flight; /* rate times mean: Little's law */
	double made; /* events per second that the load made, by its own count */
	double slept, called; /* in flight by the threads' clocks: bounds; 0: unknown */
	double slept_mean_ns;
	double others; /* requests of other processes on that disk, for each of the load's */
};

/* A load, and what is measured of it. */
struct group {
	const char *name; /* NULL: after the last one */
	const struct child_work *work;
	/* Fills in work->size bytes. false: not possible with this disk. */
	bool (*ask)(const struct validate *validate, const struct group *group, void *asked);
	/* 0, or as window__measure(). */
	int (*config)(struct window *window, struct lat_config *config);
	/* The part of the metric that is used; NULL: all of it. */
	void (*hist)(const struct window *window, const struct group *group, struct lat_hist *hist);
	void (*witness)(const struct window *window, const struct group *group,
			struct reaction *reaction); /* or NULL */
	unsigned int metric;
	unsigned int depth; /* of I/O; number of tasks */
	bool writes, sequential;
};

/*
 * Does the metric react to a load? Each group is measured in several windows, all in random order;
 * the medians of the windows are compared.
 */
struct experiment {
	struct group groups[REACT_GROUPS];
	/* By group; 0 if it was not possible. */
	void (*judge)(const struct validate *validate, const struct reaction *medians);
};

/* The same work with and without the probe, alternating. */
struct overhead {
	const char *name; /* of the check */
	const struct child_work *work;
	void (*ask)(const struct validate *validate, void *asked);
	uint64_t (*elapsed_ns)(const void *reference);
};

struct witness;

/* A situation in which it is known why a task waits: for `validate why`. */
struct situation {
	const char *name; /* of --only; NULL: after the last one */
	const char *what;
	/* 0; -EOPNOTSUPP with window->why: it cannot be made here; else as window__measure(). */
	int (*judge)(struct witness *witness);
};

/* What is checked of a probe. A probe NAME that can be checked has NAME_checks in its folder. */
struct probe_checks {
	const char *probe;
	struct {
		const char *name; /* of the check that is skipped if this check is not possible */
		reference_check check;
	} references[PROBE_REFERENCES];
	const struct experiment *experiment;
	const struct overhead *overhead;
	const struct situation *situations; /* NULL: it explains nothing */
	/* In place of references, experiment and overhead, which are then NULL. */
	int (*run)(struct validate *validate, char why[RUN_TEXT]);
	unsigned int parts; /* that run() has */
	bool (*knows_place)(const char *place); /* can run() take this validate->place? */
	const char *place; /* format of it */
};

/* NULL: it cannot be checked. */
const struct probe_checks *probe_checks__of(const struct probe_ops *ops);

/* Sorts the values. */
double react__median(double *values, unsigned int count);

/* Both return as validate__probe(). The overhead has no verdict. */
int react__run(struct validate *validate, const struct experiment *experiment, char why[RUN_TEXT]);
int overhead__run(struct validate *validate, const struct overhead *overhead, char why[RUN_TEXT]);

#endif
