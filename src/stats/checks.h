/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings about a comparison. Functions that return int return 0 or -ENOMEM. */
#ifndef LATSCOPE_STATS_CHECKS_H
#define LATSCOPE_STATS_CHECKS_H

#include <stdbool.h>

#include "group.h"
#include "notes.h"

/* Recordings that were cut off or occur twice; machines and filters that differ. */
int checks__groups(const struct group groups[2], struct notes *warnings);

/*
 * For a probe that match__probe() accepts: accounting that does not balance; more lost events, or
 * more waits in flight at the end, than tail events; stamps of two kinds.
 */
int checks__probe(const struct group groups[2], const char *probe, struct notes *warnings);

/* Does one recording mostly have the kernel's stamps, and another mostly the probe's own? */
bool checks__stamps_differ(const struct group groups[2], const char *probe);

/* ---- match.c ---- */

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
