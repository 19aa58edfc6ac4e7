/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that a workload has started and left behind. While they are watched, the kernel
 * gives a process whose parent has ended to this process as a child, which then has to reap it.
 */
#ifndef LATSCOPE_SESSION_DESCENDANTS_H
#define LATSCOPE_SESSION_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct descendants {
	pid_t *others; /* children from before: they are neither counted nor reaped */
	size_t nr_others;
};

/* To be called before the workload starts. On -errno none can be counted. */
int descendants__watch(struct descendants *descendants);

/* Reaps those that have ended, except the workload itself. */
void descendants__reap(const struct descendants *descendants, pid_t workload);

/*
 * Counts those that exist now. -EACCES: unknown, because /proc hides the processes of other users
 * (its mount option hidepid); or another -errno.
 */
int descendants__count(const struct descendants *descendants, uint64_t *count);

void descendants__clear(struct descendants *descendants);

#endif
