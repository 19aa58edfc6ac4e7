/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary of a histogram, the same for all outputs. */
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

void summary__of(struct summary *summary, const struct lat_hist *hist);

/* Fewer timed events do not give a reliable mean. */
#define SUMMARY_COST_EVENTS 100

/* How long the programs are timed; longer after too few events. */
#define SUMMARY_TIMED_NS 200000000ULL
#define SUMMARY_TIMED_MOST_NS 5000000000ULL /* once another probe has enough events */

/*
 * The cost of the probe: CPU time per event, from the first part of the window, in which its
 * programs were timed; and that of all events of the window at the same price.
 */
struct summary_cost {
	bool timed;
	bool known; /* timed, with enough events; otherwise the rest is unset */
	double ns_per_event;
	double cpu_share; /* of one CPU, over the whole window */
};

void summary__of_cost(struct summary_cost *price, const struct run *run,
		      const struct run_probe *probe);

/*
 * May the timing of the programs end, after `elapsed_ns` of the window, when `enough` of the
 * `probes` have enough events? Timing itself has a cost, so it ends soon; but the cost is small
 * while no probe has many events.
 */
bool summary__is_timed(uint64_t elapsed_ns, unsigned int probes, unsigned int enough);

/* Per second; 0 over no time. */
double summary__rate(uint64_t events, uint64_t ns);

#endif
