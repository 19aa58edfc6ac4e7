/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cgroup of its own with a limit of memory, of version 2 or 1. A process that outlives this one
 * removes it, also if this one is killed.
 */
#ifndef LATSCOPE_LOADGEN_MEMORY_CGROUP_H
#define LATSCOPE_LOADGEN_MEMORY_CGROUP_H

#include <stdint.h>

struct memory_cgroup;

/*
 * -ENODEV: there is no memory controller for it; -EACCES, -EROFS or another -errno: it cannot be
 * made.
 */
int memory_cgroup__new(struct memory_cgroup **cgroup, uint64_t bytes);

/* Moves the calling process into it. 0 or -errno. */
int memory_cgroup__enter(const struct memory_cgroup *cgroup);

/* Kills what is in it and removes it. NULL is fine. 0 or -errno. */
int memory_cgroup__free(struct memory_cgroup *cgroup);

#endif
