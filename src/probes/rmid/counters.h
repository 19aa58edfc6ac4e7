/* SPDX-License-Identifier: BSD-2-Clause */
/* Which perf events there are to ask for. */
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

/* All that can be asked for; the first COUNTERS_DEFAULT are, if nothing is said. */
#define COUNTERS_KINDS 6
#define COUNTERS_DEFAULT 3
extern const struct counters_kind counters_kinds[COUNTERS_KINDS];

/* A list of names, as the user wrote it, to a mask of 1 << kind. -EINVAL; -E2BIG: RMID_COUNTERS. */
int counters__parse(const char *list, uint32_t *mask);

#endif
