/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory of a recording: DIR/20261120T231500Z[-label][-2]. It is made for its owner alone,
 * and everything in it goes by its descriptor: whoever may rename what lies above it changes
 * nothing about where the files go.
 */
#ifndef LATSCOPE_STORE_RUNDIR_H
#define LATSCOPE_STORE_RUNDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "caller.h"

#define RUNDIR_LABEL 64 /* of a label this much less one is in the name */

struct rundir {
	char at[32]; /* "/proc/self/fd/N", the same as openat(N, ...); empty: there is none */
	char name[NAME_MAX + 1]; /* within the parent */
	int fd, parent;
	struct caller owner;
	bool is_entered; /* for good */
	bool is_by_root; /* made where the owner may not write */
};

/*
 * Makes a directory that was not there before, below `parent`, which is made too if it is missing.
 * Of `label` (may be NULL) what is not a letter, a digit, '.', '_' or '-' becomes '-'.
 * `path` is for people; programs use rundir->at.
 * -ENOTDIR: something above is a file; -EACCES, -EROFS, -ENOSPC, -ENAMETOOLONG ...: as mkdir();
 * -ENOLINK, -EREMCHG: see place.h; -ESTALE: somebody replaced it at once.
 */
int rundir__create(struct rundir *rundir, const char *parent, time_t when, const char *label,
		   char *path, size_t size);

/* The reason, for people, of an error of that; falls back on strerror(). */
const char *rundir__explain(int err);

/* Can this process, as it is now, make and write a file in the directory? It removes it again. */
int rundir__try(const struct rundir *rundir);

void rundir__close(struct rundir *rundir);

/* Also removes the directory, if it is empty. */
void rundir__discard(struct rundir *rundir);

/*
 * Files are made as the owner of the directory between these two. enter_for_good() is for who
 * gives up the privileges that it takes.
 */
void rundir__enter(const struct rundir *rundir);
void rundir__leave(const struct rundir *rundir);
int rundir__enter_for_good(struct rundir *rundir);

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

/*
 * Does its name lead elsewhere, or nowhere, by now? Whoever owns the parent may rename it: the
 * files are where the directory is. False, too, if that cannot be told.
 */
bool rundir__was_moved(const struct rundir *rundir);

/* Are the two of one file or directory? */
bool rundir__same_file(const struct stat *one, const struct stat *other);

#endif
