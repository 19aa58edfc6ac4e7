/* SPDX-License-Identifier: BSD-2-Clause */
/* What became of all that rmid measured: the account that the end of its output gives. */
#ifndef LATSCOPE_PROBES_RMID_ACCOUNT_H
#define LATSCOPE_PROBES_RMID_ACCOUNT_H

#include <stdint.h>
#include <stdio.h>

struct rmid_account {
	uint64_t records; /* that came */
	uint64_t lost_spans, lost_others; /* that did not */
	uint64_t hidden; /* switches that no program was run for */
	uint64_t malformed;
	uint64_t failed_reads; /* of a perf event */
	uint64_t no_value; /* readings of caches that gave none */
	uint64_t ticks, ticks_in_time; /* near the edge of a slot: ATTRIBUTION_EDGE_NS */
	uint64_t slots, incomplete_slots; /* that came out */
	uint64_t missing_ns; /* of all CPUs: nobody knows who had them; in told_ns */
	uint64_t wall_ns; /* CPUs that are present, times the window */
	uint64_t told_ns; /* what all rows add up to: the same, or something is wrong */
};

void rmid_account__tell(const struct rmid_account *account, FILE *out);

#endif
