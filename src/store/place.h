/* SPDX-License-Identifier: BSD-2-Clause */
/* Directories that are opened one component at a time, so that nobody leads root elsewhere. */
#ifndef LATSCOPE_STORE_PLACE_H
#define LATSCOPE_STORE_PLACE_H

#include <stdbool.h>

#include "caller.h"

/*
 * Opens a directory with O_PATH. What is missing of it is made, though not where place__check()
 * refuses. As root, symbolic links are followed only if root owns them: -ENOLINK. While files are
 * made for a caller, also its own ones are followed. Other errors: as of open() and mkdir().
 */
int place__open(const char *path, const struct caller *caller);

/*
 * May a directory be made in this one, for root or for a caller? Not where others may rename it
 * or remove it: -EREMCHG. With `strict` nobody but root may own it either.
 */
int place__check(int fd, const struct caller *caller, bool strict);

#endif
