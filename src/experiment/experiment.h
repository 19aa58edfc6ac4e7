/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An experiment: are latencies worse with ON than with OFF, or in the other cells of a matrix than
 * in its reference? Runs all sides in turn, in random order, each run a recording by `latscope
 * record`. OFF and ON are compared at planned looks, cells at the end (table.h). Its directory:
 *
 *   plan.json       what it is to do, and its looks so far
 *   off/001 ...     the recordings of the runs that count, also of on/; 001-rw=read/001 of a cell
 *   on-004 ...      a recording that does not count: its run was interrupted or failed
 *   output.log      what the commands printed
 */
#ifndef LATSCOPE_EXPERIMENT_EXPERIMENT_H
#define LATSCOPE_EXPERIMENT_EXPERIMENT_H

#include <limits.h>
#include <stdio.h>

#include <stats/comparison.h>
#include <store/caller.h>

#include "child.h"
#include "plan.h"

#define EXPERIMENT_LINES 5 /* of a command that failed */
#define EXPERIMENT_SAID 2048 /* bytes of them */

struct experiment {
	struct plan plan;
	char path[PATH_MAX]; /* for messages and for comparisons */
	char at[32]; /* "/proc/self/fd/N" */
	int dir;
	struct caller owner;
	struct child_rules child;
	size_t done[PLAN_MOST_SIDES]; /* runs of each side that count */
	uint64_t spent_ns; /* on runs of this process, of which there are: */
	size_t runs;
	struct comparison comparison; /* of the last look */
	bool compared; /* there is one */
	char why[RUN_TEXT]; /* of the last error */
	char hint[RUN_TEXT]; /* what to do; may be empty */
	char said
		[EXPERIMENT_SAID]; /* the last lines of the command that failed, as it wrote them */
	int code; /* exit code of the recorder that failed; 0: something else failed */
	/* Called before each run, and once after the last. */
	void (*progress)(const struct experiment *experiment);
};

/*
 * Makes the directory of a new experiment below `parent`. Errors of rundir.h and plan.h, with
 * `why`. Both must be followed by experiment__close(), also after an error.
 */
int experiment__create(struct experiment *experiment, const char *parent, const char *label);

/* Goes on with one; reads its plan. */
int experiment__open(struct experiment *experiment, const char *path);

/*
 * Runs until the plan has its answer. 0: `comparison` has it, but not of a matrix. -EINTR: a
 * signal; what is there can be resumed. Others: `why`, `hint` and `code` say what failed.
 */
int experiment__go(struct experiment *experiment);

void experiment__close(struct experiment *experiment);

/* Compares two sides; `comparison` has the result. The errors of experiment__go(). */
int experiment__compare(struct experiment *experiment, size_t off, size_t on, double level);

/* Runs of all sides: those that count, and those that are planned. */
size_t experiment__done(const struct experiment *experiment);
size_t experiment__planned(const struct experiment *experiment);

/* Did it end before all planned runs? */
bool experiment__ended_early(const struct experiment *experiment);

/* One statistic of a whole latency, and what runs like those so far can find in it. */
struct experiment_power {
	const struct comparison_row *row;
	unsigned int statistic;
	double spread; /* from run to run, of the logarithm */
	double finds; /* this effect, with the runs that there are */
	size_t needed; /* runs on each side for plan.effect, or the default effect */
};

#define EXPERIMENT_EFFECT 0.1 /* if none was asked for */

/*
 * Those that can be judged, the ones that need most runs first. The caller frees *powers. Returns
 * their number or -ENOMEM.
 */
ssize_t experiment__powers(const struct experiment *experiment, struct experiment_power **powers);

#endif
