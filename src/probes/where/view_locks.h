/* SPDX-License-Identifier: BSD-2-Clause */
/* Which locks of the kernel threads waited for, by the stacks of their long sleeps. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_LOCKS_H
#define LATSCOPE_PROBES_WHERE_VIEW_LOCKS_H

#include <core/frames.h>
#include <core/table.h>

#define LOCKS_NAME 80
#define LOCKS_MOST 64 /* different ones; others are left out */

struct lock_waits {
	char name[LOCKS_NAME]; /* "mmap_lock", "inode lock in ext4_buffered_write_iter" */
	double ns;
};

/*
 * `stack`: as tables have it. The function that takes the lock is the innermost one that is not of
 * locks in general. NULL: it has no name. Returns out, or NULL.
 */
const char *locks__name(const struct frames *frames, const char *stack, char out[LOCKS_NAME]);

/* `stacks`: RUN_STACKS, or NULL. The longest first; returns how many. */
size_t locks__list(const struct table *stacks, const struct frames *frames,
		   struct lock_waits locks[LOCKS_MOST]);

#endif
