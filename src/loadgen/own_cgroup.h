/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cgroup of its own with a limit, of version 2 or 1. A process that outlives this one removes it,
 * also if this one is killed.
 */
#ifndef LATSCOPE_LOADGEN_OWN_CGROUP_H
#define LATSCOPE_LOADGEN_OWN_CGROUP_H

#include <stdint.h>

struct own_cgroup;

enum own_cgroup_limit {
	OWN_CGROUP_MEMORY, /* in bytes */
	OWN_CGROUP_QUOTA, /* us of CPU time in each 100 ms; its weight is the largest */
};

/*
 * -ENODEV: there is no controller for the limit; -EACCES, -EROFS or another -errno: it cannot be
 * made.
 */
int own_cgroup__new(struct own_cgroup **cgroup, enum own_cgroup_limit limit, uint64_t value);

/* Its directory. */
const char *own_cgroup__path(const struct own_cgroup *cgroup);

/* Moves the calling process into it. 0 or -errno. */
int own_cgroup__enter(const struct own_cgroup *cgroup);

/* Kills what is in it and removes it. NULL is fine. 0 or -errno. */
int own_cgroup__free(struct own_cgroup *cgroup);

#endif
