/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of the command line: finds what they name on this machine. */
#ifndef LATSCOPE_SESSION_TARGET_H
#define LATSCOPE_SESSION_TARGET_H

#include <limits.h>

#include <probes/kit/probe.h>

#define TARGET_WHY (PATH_MAX + RUN_TEXT) /* it may name a path */

/* A filter that was not given is 0 or NULL. */
struct target {
	uint32_t pid;
	uint32_t tid;
	const char *cgroup; /* path of a directory */
	const char *comm; /* shorter than LAT_COMM_LEN */
	const char *cpus; /* a list, see cpu_list.h */
	const char *disk;
};

/*
 * Sets the filters in config. -errno: a filter names something that does not exist, `why` says
 * which. 1: all exist, and `why` is a warning: a partition was named, and its disk is measured.
 */
int target__resolve(const struct target *target, struct lat_config *config, char why[TARGET_WHY]);

/*
 * The path of the cgroup that filters, below the mount; the caller frees it. NULL: there is none,
 * or it has gone meanwhile. 0 or -ENOMEM.
 */
int target__name_cgroup(const struct names *names, const struct lat_config *config, char **path);

/*
 * The filters that apply to a probe, as one line; the caller frees it. NULL if there are none. If
 * `ops` is NULL, those of all probes: a filter that applies only to some is followed by their
 * names.
 */
char *target__describe(const struct target *target, const struct lat_config *config,
		       const struct probe_ops *ops);

#endif
