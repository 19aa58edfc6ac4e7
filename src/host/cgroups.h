/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cgroups of version 2: the id that the kernel's programs see is the inode number of the directory.
 */
#ifndef LATSCOPE_HOST_CGROUPS_H
#define LATSCOPE_HOST_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroups;

/*
 * `root` is a prefix of every path, "" for this machine. -ENOENT: no cgroup2 is mounted;
 * -ENOMEM.
 */
int cgroups__new(struct cgroups **cgroups, const char *root);
void cgroups__free(struct cgroups *cgroups);

/* Full path of the mount, with `root`. */
const char *cgroups__mount(const struct cgroups *cgroups);

/*
 * Path below the mount, "/" for the root; NULL if there is no such cgroup. Walks the tree for an
 * unknown id, so ids of removed cgroups cost one walk each, but not more than a few in 100 ms.
 * Keeps the paths of the last few thousand that are gone.
 */
const char *cgroups__path(struct cgroups *cgroups, uint64_t id);

/* Has it been long enough since the last walk? Then one more takes at most 2 % of a CPU. */
bool cgroups__has_rested(const struct cgroups *cgroups);

/* Id of a cgroup, by its path below the mount or by its full path. -ENOENT, -ENOTDIR, -EACCES. */
int cgroups__find(const struct cgroups *cgroups, const char *path, uint64_t *id);

#endif
