/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples that the programs sent before there was a threshold: the slowest of them. When there is
 * one, or at the end of the window, those that are slow are added up like all others.
 */
#ifndef LATSCOPE_PROBES_KIT_WHY_CANDIDATES_H
#define LATSCOPE_PROBES_KIT_WHY_CANDIDATES_H

#include <stddef.h>

#include <latscope/why.h>

#define WHY_CANDIDATES 1024

/* Zeroed: none. */
struct why_candidates {
	struct why_event *events; /* owned */
	size_t nr;
};

/* Keeps the slowest. 0 or -ENOMEM. */
int why_candidates__add(struct why_candidates *candidates, const struct why_event *event);

/* Sorts them, the slowest first. */
void why_candidates__sort(struct why_candidates *candidates);

/*
 * Calls `each` for the pairs of a candidate: its culprits, and for each part what these do not
 * have. Returns 0, or the first error of `each`.
 */
int why_candidates__pairs(const struct why_event *event,
			  int (*each)(void *context, const struct why_pair *pair), void *context);

void why_candidates__clear(struct why_candidates *candidates);

#endif
