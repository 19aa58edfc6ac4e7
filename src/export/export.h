/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings in the formats of other tools. docs/format.md says what they contain. */
#ifndef LATSCOPE_EXPORT_EXPORT_H
#define LATSCOPE_EXPORT_EXPORT_H

#include <stdio.h>

#include <store/rundb.h>

/* Has the run stacks of long sleeps, from which the next two are made? */
bool export__has_stacks(const struct run *run);

/*
 * The stacks, folded: "name;state;call;outermost;...;innermost us", as flamegraph.pl reads them. 0
 * or -ENOMEM.
 */
int export__folded(FILE *out, const struct run *run);

/* The stacks as a profile of pprof, compressed by gzip. 0 or -errno. */
int export__pprof(FILE *out, const struct run *run);

/*
 * A trace of Perfetto: slow events, long waits, and counters of each interval. Reads all intervals,
 * and keeps none of them. Errors of rundb.h, and -errno.
 */
int export__perfetto(FILE *out, struct rundb *db, const struct run *run);

#endif
