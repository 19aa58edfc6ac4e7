/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures that every output gives of a histogram, worked out once. */
#ifndef LATSCOPE_CORE_SUMMARY_H
#define LATSCOPE_CORE_SUMMARY_H

#include "run.h"

#define SUMMARY_QUANTILES 5

enum summary_quantile { SUMMARY_P50, SUMMARY_P90, SUMMARY_P99, SUMMARY_P999, SUMMARY_P9999 };

struct summary {
	uint64_t events;
	uint64_t tail;
	uint64_t sum_ns;
	uint64_t max_ns;
	double mean_ns;
	uint64_t quantiles_ns[SUMMARY_QUANTILES];
	int top_bucket; /* -1: no events */
};

/* "p99.9" and, for field names, "p99_9". */
extern const char *const summary__labels[SUMMARY_QUANTILES];
extern const char *const summary__fields[SUMMARY_QUANTILES];

void summary__of(struct summary *figures, const struct lat_hist *hist);

/* Of fewer timed events the time of one says little of the others. */
#define SUMMARY_COST_EVENTS 100

/* The programs are timed for so long, and longer where there were too few events. */
#define SUMMARY_TIMED_NS 200000000ULL
#define SUMMARY_TIMED_MOST_NS 5000000000ULL /* if another probe has had enough */

/*
 * What the probe cost: an event while the programs were timed, which is the first part of the
 * window, and at that price all events of the window.
 */
struct summary_cost {
	bool timed;
	bool known; /* it was timed, and there were events enough; else nothing below holds */
	double ns_per_event;
	double cpu_share; /* of one CPU, over the whole window */
};

void summary__of_cost(struct summary_cost *figures, const struct run *run,
		      const struct run_probe *probe);

/*
 * May the timing of the programs end, after `elapsed_ns` of the window, when `enough` of so many
 * `probes` have had events enough? Timing costs itself, so not long after that; but little as long
 * as no probe has many events.
 */
bool summary__is_timed(uint64_t elapsed_ns, unsigned int probes, unsigned int enough);

/* Per second; 0 over no time. */
double summary__rate(uint64_t events, uint64_t ns);

#endif
