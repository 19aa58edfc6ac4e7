/* SPDX-License-Identifier: BSD-2-Clause */
/* The loads of `latscope load` as children of an experiment, and how a rate must react to one. */
#ifndef LATSCOPE_SELFTEST_LOADS_H
#define LATSCOPE_SELFTEST_LOADS_H

#include <loadgen/load.h>

#include "probe_checks.h"

#define LOADS_NAME "latscope-load" /* of the tasks that are measured */

struct loads {
	uint64_t window_ns;
	unsigned int tasks; /* of the load, 0: none */
	uint64_t made; /* page faults of the load */
	char why[REFERENCE_WHY];
};

/* A child that calls a function with its struct loads. */
#define LOADS_WORK(function)                                                                      \
	{                                                                                         \
		.size = sizeof(struct loads), .why = offsetof(struct loads, why), .run = function \
	}

/* Runs a load of that name. 0 or -errno. */
int loads__run(const char *kind, uint64_t duration_ns, unsigned int tasks);

/* For struct group: what to ask, and which tasks to measure. */
bool loads__ask(const struct validate *validate, const struct group *group, void *asked);
int loads__measure_named(struct window *window, struct lat_config *config);

/* Of the window. */
double loads__per_second(const struct window *window, uint64_t count);

/* These are rates of the whole machine: if it is busy, the load may add little. */
void loads__judge_rate(const struct validate *validate, const char *name,
		       const struct reaction *idle, const struct reaction *load);

#endif
