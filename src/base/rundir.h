/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory of a recording: DIR/20261120T231500Z[-label][-2]. */
#ifndef LATSCOPE_BASE_RUNDIR_H
#define LATSCOPE_BASE_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/*
 * Makes a directory that was not there before, below `parent`, which is made too if it is missing.
 * Of `label` (may be NULL) what is not a letter, a digit, '.', '_' or '-' becomes '-'.
 * -ENOTDIR: something above is a file; -EACCES, -EROFS, -ENOSPC, -ENAMETOOLONG ...: as mkdir().
 */
int rundir__create(const char *parent, time_t when, const char *label, char *path, size_t size);

/*
 * Marks the directory as one that is being recorded into, for as long as the descriptor is open:
 * the kernel takes the mark back however the recorder ends. -errno: it cannot be marked (NFS), and
 * then nobody will know.
 */
int rundir__hold(const char *dir);

/* `path` is the directory or a file in it. */
bool rundir__is_held(const char *path);

/* "2026-11-20T23:15:00Z", for struct run. Returns text. */
char *rundir__utc(time_t when, char *text, size_t size);

#endif
