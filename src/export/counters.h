/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of a trace: rate and percentiles of each metric, the pressure, and for each process
 * how many of its threads were in each part of an account. A value holds from the start of an
 * interval to its end.
 */
#ifndef LATSCOPE_EXPORT_COUNTERS_H
#define LATSCOPE_EXPORT_COUNTERS_H

#include "tracks.h"

struct counters;

/* `groups`: UUIDs of the tracks of probes. 0 or -ENOMEM. */
int counters__new(struct counters **counters, struct packets *packets, struct tracks *tracks,
		  const struct run *run, const uint64_t groups[RUN_PROBES]);
void counters__free(struct counters *counters); /* NULL is fine */

/* While the tables hold its rows. */
void counters__interval(struct counters *counters, const struct run_interval *interval);

/* After the last one. */
void counters__end(struct counters *counters);

#endif
