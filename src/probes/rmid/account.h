/* SPDX-License-Identifier: BSD-2-Clause */
/* The accounting of rmid, printed at the end of its output. */
#ifndef LATSCOPE_PROBES_RMID_ACCOUNT_H
#define LATSCOPE_PROBES_RMID_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emulation.h"

struct rmid_account {
	uint64_t records; /* records received */
	uint64_t lost_spans, lost_others; /* records lost */
	uint64_t hidden; /* switches for which no program ran */
	uint64_t malformed;
	uint64_t failed_reads; /* failed reads of a perf event */
	uint64_t no_value; /* cache readings without a value */
	uint64_t ticks, ticks_in_time; /* ticks near the edge of a slot: ATTRIBUTION_EDGE_NS */
	uint64_t slots, incomplete_slots; /* slots that were returned */
	uint64_t missing_ns; /* time of all CPUs without a known process; part of told_ns */
	uint64_t wall_ns; /* present CPUs times the window */
	uint64_t told_ns; /* sum of all rows: must be equal, otherwise something is wrong */
};

/* What the emulation of RMIDs did, for which groups of resctrl may stand. */
void rmid_account__tell_emulation(const struct emulation_state *state, bool groups, FILE *out);

void rmid_account__tell(const struct rmid_account *account, FILE *out);

#endif
