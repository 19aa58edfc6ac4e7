/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_HOST_FIRST_LINE_H
#define LATSCOPE_HOST_FIRST_LINE_H

#include <stddef.h>

/*
 * The first line of a file of /sys or /proc, root/path, without its end. 0, -EUCLEAN (the file is
 * empty) or -errno; if it is not 0, the line is empty.
 */
int first_line__read(const char *root, const char *path, char *line, size_t size);

#endif
