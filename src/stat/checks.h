/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a comparison doubtful though it can be done. All return 0 or -ENOMEM. */
#ifndef LATSCOPE_STAT_CHECKS_H
#define LATSCOPE_STAT_CHECKS_H

#include <stdbool.h>

#include "notes.h"
#include "side.h"

/* Recordings that were cut off, or are there twice; machines and filters that differ. */
int checks__sides(const struct side sides[2], struct notes *warnings);

/*
 * Of one module that match__module() lets pass: accounting that does not balance; more events lost,
 * or waits left open at the end, than there are in the tail; stamps of two kinds.
 */
int checks__module(const struct side sides[2], const char *module, struct notes *warnings);

/*
 * Has one recording mostly the kernel's stamps of what it measures, and another mostly the probe's?
 */
bool checks__stamps_differ(const struct side sides[2], const char *module);

#endif
