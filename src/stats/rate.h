/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events per second of a group. A window without events is an observation like any other: on an
 * idle machine all windows may be empty.
 */
#ifndef LATSCOPE_STATS_RATE_H
#define LATSCOPE_STATS_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observation.h"

struct rate {
	uint64_t events;
	/*
	 * Of runs that all have events: the geometric mean of their rates. Otherwise all events per
	 * total time. NAN: time unknown.
	 */
	double per_second;
	double centre; /* logarithm of the typical rate */
	double variance; /* of one window, beyond that of independent events */
	double known; /* variance of the centre from independent events */
};

/*
 * The rate of one latency, from its observations in order of their windows; a window without an
 * observation has no events. `tail`: only tail events. `batches`: the windows are parts of one run;
 * otherwise each is a run.
 */
struct rate rate__of(const struct observation *observations, size_t nr, const uint64_t *windows_ns,
		     size_t nr_windows, bool tail, bool batches);

#endif
