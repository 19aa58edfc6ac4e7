/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's files that have the counters of core/pressure.h. */
#ifndef LATSCOPE_HOST_PRESSURE_FILES_H
#define LATSCOPE_HOST_PRESSURE_FILES_H

#include <core/pressure.h>

struct pressure;

/*
 * Opens the kernel's files; needs no privilege. `root` is a prefix of every path, "" for this
 * machine. `group`: path of a cgroup below the mount of version 2; NULL: the whole machine. `why`
 * gets what is missing and the reasons, or stays empty: those columns are then unknown. 0 or
 * -ENOMEM.
 */
int pressure__open(struct pressure **pressure, const char *root, const char *group,
		   char why[RUN_TEXT]);
void pressure__close(struct pressure *pressure);

/*
 * Adds a row of what the counters gained since the last call. NULL: only remembers them, for the
 * start. 0 or -errno.
 */
int pressure__read(struct pressure *pressure, struct table *table, uint64_t time_ns);

#endif
