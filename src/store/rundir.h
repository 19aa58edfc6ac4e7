/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory of a recording: DIR/20261120T231500Z[-label][-2]. Only its owner has access. All
 * files in it are opened by its descriptor: renaming a directory above it does not redirect them.
 */
#ifndef LATSCOPE_STORE_RUNDIR_H
#define LATSCOPE_STORE_RUNDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "caller.h"

#define RUNDIR_LABEL 64 /* maximum length of a label in the name, plus 1 */

struct rundir {
	/* "/proc/self/fd/N": paths below it are the same as openat(N, ...); empty: no directory */
	char at[32];
	char name[NAME_MAX + 1]; /* its name in the parent */
	int fd, parent;
	struct caller owner;
	bool is_entered; /* enter_for_good() was called */
	bool is_by_root; /* made by root where the owner may not write */
};

/*
 * Makes a directory that did not exist, below `parent`, which is also made if it is missing. In
 * `label` (may be NULL), '-' replaces each character except letters, digits, '.', '_' and '-'.
 * `path` is only for messages; use rundir->at to open files. -ENOTDIR: a parent is a file; -EACCES,
 * -EROFS, -ENOSPC, -ENAMETOOLONG ...: as mkdir(); -ENOLINK, -EREMCHG: see trusted_path.h; -ESTALE:
 * another process replaced it at once.
 */
int rundir__create(struct rundir *rundir, const char *parent, time_t when, const char *label,
		   char *path, size_t size);

/*
 * Makes a directory in one that was made by rundir__create(), also after privileges were dropped.
 * -EEXIST or another error of mkdir().
 */
int rundir__create_in(struct rundir *rundir, const struct rundir *above, const char *name);

/* The message for an error of rundir__create(); strerror() for other errors. */
const char *rundir__explain(int err);

/*
 * Can this process, with its current rights, make and write a file in the directory? It removes the
 * file again.
 */
int rundir__try(const struct rundir *rundir);

void rundir__close(struct rundir *rundir);

/* Also removes the directory, if it is empty. */
void rundir__discard(struct rundir *rundir);

/*
 * Between these two calls, files are made as the owner of the directory. enter_for_good() is for a
 * process that then gives up the necessary privileges.
 */
void rundir__enter(const struct rundir *rundir);
void rundir__leave(const struct rundir *rundir);
int rundir__enter_for_good(struct rundir *rundir);

/*
 * Locks the directory as one that is being recorded, as long as the descriptor is open: the kernel
 * removes the lock however the recorder ends. -errno: it cannot be locked (NFS); then
 * rundir__is_held() is always false.
 */
int rundir__hold(const char *dir);

/* `path` is the directory or a file in it. */
bool rundir__is_held(const char *path);

/* "2026-11-20T23:15:00Z", for struct run. Returns text. */
char *rundir__utc(time_t when, char *text, size_t size);

/*
 * Does its path now lead elsewhere, or nowhere? The owner of the parent may rename it; the files
 * remain in the directory. Also false if it cannot be found out.
 */
bool rundir__was_moved(const struct rundir *rundir);

/* Do both descriptors refer to the same file or directory? */
bool rundir__same_file(const struct stat *one, const struct stat *other);

#endif
