/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures that every output gives of a histogram, worked out once. */
#ifndef LATSCOPE_BASE_FIGURES_H
#define LATSCOPE_BASE_FIGURES_H

#include "run.h"

#define FIGURES_QUANTILES 5

enum figures_quantile { FIGURES_P50, FIGURES_P90, FIGURES_P99, FIGURES_P999, FIGURES_P9999 };

struct figures {
	uint64_t events;
	uint64_t tail;
	uint64_t sum_ns;
	uint64_t max_ns;
	double mean_ns;
	uint64_t quantiles_ns[FIGURES_QUANTILES];
	int top_bucket; /* -1: no events */
};

/* "p99.9" and, for field names, "p99_9". */
extern const char *const figures__labels[FIGURES_QUANTILES];
extern const char *const figures__fields[FIGURES_QUANTILES];

void figures__of(struct figures *figures, const struct lat_hist *hist);

/* Of fewer timed events the time of one says little of the others. */
#define FIGURES_COST_EVENTS 100

/* The programs are timed for so long, and longer where there were too few events. */
#define FIGURES_TIMED_NS 200000000ULL
#define FIGURES_TIMED_MOST_NS 5000000000ULL /* if another probe has had enough */

/*
 * What the probe cost: an event while the programs were timed, which is the first part of the
 * window, and at that price all events of the window.
 */
struct figures_cost {
	bool timed;
	bool known; /* it was timed, and there were events enough; else nothing below holds */
	double ns_per_event;
	double cpu_share; /* of one CPU, over the whole window */
};

void figures__of_cost(struct figures_cost *figures, const struct run *run,
		      const struct run_module *module);

/*
 * May the timing of the programs end, after `elapsed_ns` of the window, when `enough` of so many
 * `probes` have had events enough? Timing costs itself, so not long after that; but little as long
 * as no probe has many events.
 */
bool figures__is_timed(uint64_t elapsed_ns, unsigned int probes, unsigned int enough);

/* Per second; 0 over no time. */
double figures__rate(uint64_t events, uint64_t ns);

#endif
