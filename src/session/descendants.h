/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that a workload has started and left behind. While they are watched, the kernel
 * makes those whose parent ends children of this process, which therefore has to reap them.
 */
#ifndef LATSCOPE_SESSION_DESCENDANTS_H
#define LATSCOPE_SESSION_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct descendants {
	pid_t *others; /* children that were there before: not ours to count or reap */
	size_t nr_others;
};

/* Before the workload is started. 0 or -errno: then none will be counted. */
int descendants__watch(struct descendants *descendants);

/* Reaps those that have ended, but not the workload itself. */
void descendants__reap(const struct descendants *descendants, pid_t workload);

/*
 * How many there are now. -EACCES: this is not known, as /proc hides the processes of other users
 * (its mount option hidepid), or another -errno.
 */
int descendants__count(const struct descendants *descendants, uint64_t *count);

void descendants__clear(struct descendants *descendants);

#endif
