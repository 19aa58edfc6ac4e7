/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A guard process that outlives this one, even if this one is killed or crashes, and then restores
 * what must not stay changed.
 */
#ifndef LATSCOPE_CORE_RESTORE_H
#define LATSCOPE_CORE_RESTORE_H

#include <stdbool.h>

struct restore;

struct guard_ops {
	/* Called once in the guard, which must keep this descriptor open. May be NULL. */
	void (*settle)(void *arg, int socket);
	/* Called in the guard when this process ends, or by restore__end(). 0 or -errno. */
	int (*undo)(void *arg);
};

/*
 * The guard has a copy of the memory as it is now, except shared mappings, and its own copies of
 * descriptors. 0 or -errno.
 */
int restore__begin(struct restore **restore, const struct guard_ops *ops, void *arg);

/*
 * Ends the guard. With `undone` there is nothing to do: 0. Otherwise the guard calls undo() now:
 * its result, or -ECHILD if the guard was killed. NULL: no guard, 0.
 */
int restore__end(struct restore *restore, bool undone);

#endif
