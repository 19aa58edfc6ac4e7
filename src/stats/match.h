/* SPDX-License-Identifier: BSD-2-Clause */
/* Which probes and thresholds of two groups can be compared. Both groups were read. */
#ifndef LATSCOPE_STATS_MATCH_H
#define LATSCOPE_STATS_MATCH_H

#include "group.h"

/*
 * True if every recording of both groups has this probe, and the same first metric; otherwise false
 * and the reason.
 */
bool match__probe(const struct group groups[2], const char *probe, char why[RUN_TEXT]);

/* How many metrics of such a probe all recordings have: the first ones. */
unsigned int match__metrics(const struct group groups[2], const char *probe);

/*
 * Chooses one tail threshold of a probe for all recordings: `wanted`, or if that is 0 the first
 * recording's threshold that is possible for all. Recounts the tail where a recording has another
 * threshold. 0 and the reason if no threshold is possible for all.
 */
uint64_t match__tail(struct group groups[2], const char *probe, uint64_t wanted,
		     char why[RUN_TEXT]);

#endif
