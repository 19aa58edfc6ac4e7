/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latscope gives up root before it writes a recording that belongs to root. A small process that
 * stays root, with only the directory open, gives the files back to root when the writer ends, even
 * if it is killed.
 */
#ifndef LATSCOPE_SESSION_LEND_H
#define LATSCOPE_SESSION_LEND_H

#include <host/restore.h>
#include <store/recording.h>

/*
 * Starts that process, before the directory changes its owner. *restore stays NULL if no process is
 * needed: nothing is kept, or the recording belongs to the user who runs latscope or called sudo.
 * 0 or -errno.
 */
int lend__begin(struct restore **restore, struct recording *recording);

/*
 * To be called after the last write; from here on this process may be unable to read the
 * directory. On -errno, files may still belong to the user that wrote them.
 */
int lend__end(struct restore *restore);

#endif
