/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracks of a trace that events need, made when they are needed first. */
#ifndef LATSCOPE_EXPORT_TRACKS_H
#define LATSCOPE_EXPORT_TRACKS_H

#include "packets.h"

#define TRACKS_MOST (1 << 15) /* remembered; then all are forgotten, and made again */

struct tracks;

int tracks__new(struct tracks **tracks, struct packets *packets); /* 0 or -ENOMEM */
void tracks__free(struct tracks *tracks); /* NULL is fine */

/* All return a UUID. A name counts at the first call; NULL or empty: it is not known. */
uint64_t tracks__process(struct tracks *tracks, int64_t pid, const char *name);
uint64_t tracks__thread(struct tracks *tracks, int64_t pid, int64_t tid, const char *name);

/*
 * Of slices that may overlap: one among those of this kind, a number, below `parent` in which there
 * is none from start_ns on. It is then taken until end_ns.
 */
uint64_t tracks__lane(struct tracks *tracks, uint64_t parent, unsigned int kind, const char *name,
		      int64_t start_ns, int64_t end_ns);

#endif
