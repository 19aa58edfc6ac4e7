/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that outlives latscope if latscope is killed, crashes or exits early. It then restores
 * what latscope changed.
 */
#ifndef LATSCOPE_HOST_RESTORE_H
#define LATSCOPE_HOST_RESTORE_H

#include <stdbool.h>

struct restore;

struct restore_ops {
	/* Called once in the restore process, which must keep this descriptor open. May be NULL. */
	void (*settle)(void *arg, int socket);
	/* Called in the restore process when latscope ends, or by restore__end(). 0 or -errno. */
	int (*undo)(void *arg);
	/*
	 * Called in the restore process: does what latscope asks by the other end of the socket,
	 * until end of file. NULL: latscope asks nothing. With it, undo() is always called.
	 */
	void (*serve)(void *arg, int socket);
};

/*
 * Starts the restore process. It has a copy of the memory as it is now, except for shared mappings,
 * and its own copies of descriptors. 0 or -errno.
 */
int restore__begin(struct restore **restore, const struct restore_ops *ops, void *arg);

/* latscope's end of the socket, for requests to serve(). */
int restore__socket(const struct restore *restore);

/*
 * Ends the restore process. With `undone`, nothing is left to do: returns 0. Otherwise the process
 * calls undo() now: returns 0, the error of undo(), or -ECHILD if it was killed. NULL: none was
 * started; returns 0.
 */
int restore__end(struct restore *restore, bool undone);

#endif
