/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many events a side has per second. A window without events is an observation like any other:
 * of an idle machine all of them may be empty.
 */
#ifndef LATSCOPE_STATS_RATE_H
#define LATSCOPE_STATS_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observation.h"

struct rate {
	uint64_t events;
	double per_second; /* all events by all of the time; NAN: no time is known */
	double centre; /* logarithm of the typical rate */
	double variance; /* of one window, beyond what independent events give */
	double known; /* variance of the centre that independent events give */
};

/*
 * Of the units of one latency, in order of their windows; a window that has no unit has no events.
 * `tail`: only events of the tail. `batches`: the windows are parts of one run, else each is a run.
 */
struct rate rate__of(const struct observation *observations, size_t nr, const uint64_t *windows_ns,
		     size_t nr_windows, bool tail, bool batches);

#endif
