/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording of root is written by a user that is not root. A small process of root, which has
 * nothing open but the directory, gives all of it back to root when the writer ends, however it
 * ends.
 */
#ifndef LATSCOPE_SESSION_LEND_H
#define LATSCOPE_SESSION_LEND_H

#include <core/restore.h>
#include <store/recording.h>

/*
 * Starts that process, before the directory changes hands. *guard stays NULL where none is needed:
 * nothing is kept, or the recording belongs to the user who runs latscope or called sudo. 0 or
 * -errno.
 */
int lend__begin(struct restore **restore, struct recording *recording);

/*
 * Nothing is written any more, and from here on this process may be unable to look into the
 * directory. 0, or -errno: files may still belong to the user that wrote them.
 */
int lend__end(struct restore *restore);

#endif
