/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the file of --html, or of another option. */
#ifndef LATSCOPE_CLI_PAGE_H
#define LATSCOPE_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* "-": standard output, which then must get nothing else. */
bool page__is_stdout(const char *path);

/*
 * `what` it is, for the note at the end: "page". print() writes to the stream; -errno of it is
 * explained as an error of a recording. The file appears complete or not at all. A file of that
 * name is replaced; what is not a regular file is refused. To standard output there is no note.
 * Returns an exit code.
 */
int page__write(const char *path, const char *what, int (*print)(FILE *out, void *of), void *of);

#endif
