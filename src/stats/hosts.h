/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quantiles of many hosts: do two groups of hosts differ, and how well is the quantile of a group
 * known? Hosts are the observations, because the events of one host are alike. The quantile of a
 * group is that of all its events.
 *
 * Two groups are compared by permutation: if they do not differ, it is by chance which group a host
 * is in. A host that has data in both groups is only exchanged with itself. docs/fleet.md has the
 * method, its sources and the error rates. No random numbers: the same data give the same answer.
 */
#ifndef LATSCOPE_STATS_HOSTS_H
#define LATSCOPE_STATS_HOSTS_H

#include <core/sparse.h>

#include "judge.h"

#define HOSTS_LEAST 3 /* hosts with events in each group */
#define HOSTS_LEAST_EFFECTIVE 2 /* hosts of equal load, for an interval of one group */
#define HOSTS_ASSIGNMENTS 2000 /* how many ways to assign hosts to groups are tried */

struct hosts_rules {
	double confidence; /* 0.95 */
	double min_effect; /* 0.1: ratios from 1 / 1.1 to 1.1 are no difference */
	const double *quantiles; /* 0.999 */
	size_t nr_quantiles;
	bool verdicts_only; /* leave out the intervals of the ratios, which take most of the time */
};

/* A latency, such as that of one service: its histograms in both groups, by host. NULL: empty. */
struct hosts_latency {
	const struct sparse *const *hists[2];
};

/*
 * Compares OFF and ON. `in` has a mask of 1 << group for each host: the groups that it has data in,
 * of whatever latency. Fills in a struct judged for each quantile of each latency: all but spread.
 * `adjusted` is corrected for the number of tests by the lowest p of all of them (P. H. Westfall,
 * S. S. Young, Resampling-Based Multiple Testing, Wiley 1993). Returns the number of tests, or
 * -ENOMEM.
 */
ssize_t hosts__compare(const struct hosts_rules *rules, const unsigned char *in, size_t hosts,
		       const struct hosts_latency *latencies, size_t nr, struct judged *judged);

struct hosts_interval {
	double low, high; /* ns; NAN: unknown */
	char why[RUN_TEXT]; /* then */
};

/* The interval of a quantile of all events of some hosts, taken as a sample of more such hosts. */
struct hosts_interval hosts__interval(const struct sparse *const *hists, size_t hosts,
				      double quantile, double confidence);

#endif
