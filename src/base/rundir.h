/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory of a recording: DIR/20261120T231500Z[-label][-2]. */
#ifndef LATSCOPE_BASE_RUNDIR_H
#define LATSCOPE_BASE_RUNDIR_H

#include <stddef.h>
#include <time.h>

/*
 * Makes a directory that was not there before, below `parent`, which is made too if it is missing.
 * Of `label` (may be NULL) what is not a letter, a digit, '.', '_' or '-' becomes '-'.
 * -ENOTDIR: something above is a file; -EACCES, -EROFS, -ENOSPC, -ENAMETOOLONG ...: as mkdir().
 */
int rundir__create(const char *parent, time_t when, const char *label, char *path, size_t size);

/* "2026-11-20T23:15:00Z", for struct run. Returns text. */
char *rundir__utc(time_t when, char *text, size_t size);

#endif
