/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that outlives ours if ours is killed, crashes or exits without a word. It then undoes
 * what must not stay.
 */
#ifndef LATSCOPE_CORE_RESTORE_H
#define LATSCOPE_CORE_RESTORE_H

#include <stdbool.h>

struct restore;

struct guard_ops {
	/* Called once in the guard, which has to keep this descriptor open. May be NULL. */
	void (*settle)(void *arg, int socket);
	/* Called in the guard if this process ends, or if guard__end() asks. 0 or -errno. */
	int (*undo)(void *arg);
};

/*
 * The guard sees memory as it is now, but for what is mapped shared, and has its own copies of
 * descriptors. 0 or -errno.
 */
int restore__begin(struct restore **restore, const struct guard_ops *ops, void *arg);

/*
 * Ends the guard. With `undone` nothing is left to do, and 0 is returned. Otherwise it calls undo()
 * now: 0, the error of that, or -ECHILD: the guard was killed. NULL: there is no guard, 0.
 */
int restore__end(struct restore *restore, bool undone);

#endif
