/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that the user named, and that is written while latscope measures. */
#ifndef LATSCOPE_STORE_APPEND_FILE_H
#define LATSCOPE_STORE_APPEND_FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Opens a regular file for appending, or makes it, with the rights of the user who called latscope.
 * Call it before privileges are dropped. With `fresh` the file must be new, or empty. 0 or -errno:
 * -EEXIST, it is not; -ENOLINK, a symbolic link; -EINVAL, not a regular file; -EREMCHG, other users
 * can replace it, or it is theirs.
 */
int append_file__open(FILE **file, const char *path, bool fresh);

/* The message for an error of it. */
const char *append_file__explain(int err);

#endif
