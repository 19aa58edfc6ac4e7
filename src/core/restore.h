/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that outlives this one if it is killed, crashes or exits early. It then restores what
 * this one changed.
 */
#ifndef LATSCOPE_CORE_RESTORE_H
#define LATSCOPE_CORE_RESTORE_H

#include <stdbool.h>

struct restore;

struct guard_ops {
	/* Called once in that process, which must keep this descriptor open. May be NULL. */
	void (*settle)(void *arg, int socket);
	/* Called there if this process ends, or if restore__end() asks for it. 0 or -errno. */
	int (*undo)(void *arg);
};

/*
 * Starts it. It has a copy of memory as it is now, except for shared mappings, and its own copies
 * of descriptors. 0 or -errno.
 */
int restore__begin(struct restore **restore, const struct guard_ops *ops, void *arg);

/*
 * Ends it. With `undone`, nothing is left to do: returns 0. Otherwise it calls undo() now: returns
 * 0, the error of undo(), or -ECHILD if it was killed. NULL: none was started; returns 0.
 */
int restore__end(struct restore *restore, bool undone);

#endif
