/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Crossings between user and kernel mode as a probe. It makes them itself while the window is open,
 * and is done when it has the requested number. The whole window is one interval.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_RINGLAT_H
#define LATSCOPE_PROBES_RINGLAT_RINGLAT_H

#include <probes/kit/probe.h>

#include "ring.h"

extern const struct probe_ops ringlat_probe;

/* Its own options, which must be given. */
struct ringlat_config {
	const struct ring_method *method; /* NULL: the best that works */
	bool like_xperf; /* as that patch of Linux measured */
	FILE *raw; /* for the stamps of each crossing; NULL: not wanted */
	uint64_t crossings; /* of each kind */
	struct ring_result *result; /* filled in while it measures */
	/* Called for each method that does not work; NULL: not wanted. */
	void (*refused)(const struct ring_method *method, const char *why);
};

#endif
