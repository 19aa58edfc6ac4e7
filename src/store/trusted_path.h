/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens directories one component at a time, so that no link redirects root. */
#ifndef LATSCOPE_STORE_TRUSTED_PATH_H
#define LATSCOPE_STORE_TRUSTED_PATH_H

#include <stdbool.h>

#include "caller.h"

/*
 * Opens a directory with O_PATH. Makes missing directories, except where trusted_path__check()
 * refuses. Root follows only symbolic links that root owns, otherwise -ENOLINK; while files are
 * made for a caller, also the caller's links. Other errors: those of open() and mkdir().
 */
int trusted_path__open(const char *path, const struct caller *caller);

/*
 * Opens the directory that a file is to be made in, which must exist and pass
 * trusted_path__check(). A descriptor or -errno.
 */
int trusted_path__open_above(const char *path, const struct caller *caller);

/*
 * May root or a caller make a directory in this one? -EREMCHG: other users can rename or remove it.
 * With `strict` it must also belong to root.
 */
int trusted_path__check(int fd, const struct caller *caller, bool strict);

#endif
