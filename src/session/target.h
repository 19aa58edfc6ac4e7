/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of the command line, looked up on this machine. */
#ifndef LATSCOPE_SESSION_TARGET_H
#define LATSCOPE_SESSION_TARGET_H

#include <limits.h>

#include <probes/probe.h>

#define TARGET_WHY (PATH_MAX + RUN_TEXT) /* it may name a path */

/* Of a filter that was not given, the number is 0 and the text NULL. */
struct target {
	uint32_t pid;
	uint32_t tid;
	const char *cgroup; /* path of a directory */
	const char *comm; /* shorter than LAT_COMM_LEN */
	const char *disk;
};

/*
 * Sets the filters in config. Negative: one names what is not there, `why` says which. 1: all are
 * found, but `why` has something to tell: a partition was named and its disk is measured.
 */
int target__resolve(const struct target *target, struct lat_config *config, char why[TARGET_WHY]);

/* A filter by disk is heeded by modules that know whose disk a wait is for. */
bool target__knows_disks(const struct probe_ops *ops);

/*
 * The filters that a module heeds, as resolved, as one line, to be freed; NULL if there are none.
 * Of all modules where `ops` is NULL: what only some heed has their names behind it.
 */
char *target__describe(const struct target *target, const struct lat_config *config,
		       const struct probe_ops *ops);

#endif
