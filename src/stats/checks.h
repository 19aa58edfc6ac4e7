/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a comparison doubtful though it can be done. All return 0 or -ENOMEM. */
#ifndef LATSCOPE_STATS_CHECKS_H
#define LATSCOPE_STATS_CHECKS_H

#include <stdbool.h>

#include "group.h"
#include "notes.h"

/* Recordings that were cut off, or are there twice; machines and filters that differ. */
int checks__groups(const struct group groups[2], struct notes *warnings);

/*
 * Of one module that match__module() lets pass: accounting that does not balance; more events lost,
 * or waits left open at the end, than there are in the tail; stamps of two kinds.
 */
int checks__probe(const struct group groups[2], const char *probe, struct notes *warnings);

/*
 * Has one recording mostly the kernel's stamps of what it measures, and another mostly the probe's?
 */
bool checks__stamps_differ(const struct group groups[2], const char *probe);

#endif
