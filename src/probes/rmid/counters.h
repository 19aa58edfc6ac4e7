/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf events that can be requested. */
#ifndef LATSCOPE_PROBES_RMID_COUNTERS_H
#define LATSCOPE_PROBES_RMID_COUNTERS_H

#include <stdint.h>

#include <latscope/rmid_record.h>

struct counters_kind {
	const char *name; /* "llc-misses" */
	const char *column; /* "llc_misses" */
	const char *what;
	uint32_t type;
	uint64_t config;
};

/* All of them; the first COUNTERS_DEFAULT are the default. */
#define COUNTERS_KINDS 6
#define COUNTERS_DEFAULT 3
extern const struct counters_kind counters_kinds[COUNTERS_KINDS];

/* Converts a list of names to a mask of 1 << kind. -EINVAL; -E2BIG: RMID_COUNTERS. */
int counters__parse(const char *list, uint32_t *mask);

#endif
