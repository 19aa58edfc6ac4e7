/* SPDX-License-Identifier: BSD-2-Clause */
/* What of two sides measures the same. Both are read: side.h. */
#ifndef LATSCOPE_STATS_MATCH_H
#define LATSCOPE_STATS_MATCH_H

#include "group.h"

/*
 * Has every recording of both sides this module, with latencies measured in the same way? If not,
 * false and the reason.
 */
bool match__probe(const struct group groups[2], const char *probe, char why[RUN_TEXT]);

/*
 * One threshold of the tail for all recordings: `wanted`, or if that is 0 the one of the first
 * recording for which it can be done. Where it is not the recording's own, its tail is counted
 * anew. 0, with the reason: there is none that fits all.
 */
uint64_t match__tail(struct group groups[2], uint64_t wanted, char why[RUN_TEXT]);

#endif
