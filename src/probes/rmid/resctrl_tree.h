/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of resctrl, and of /proc what says which group a task is in: Documentation/filesystems/
 * resctrl.rst of the kernel is the protocol.
 *
 * `root` is a prefix of both, for tests; NULL: this machine. A chosen root must be a FUSE file
 * system, so that nothing else is written to, whatever is there, and no link in it is followed.
 */
#ifndef LATSCOPE_PROBES_RMID_RESCTRL_TREE_H
#define LATSCOPE_PROBES_RMID_RESCTRL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <core/run.h>

#define RESCTRL_TREE "/sys/fs/resctrl"
#define RESCTRL_NAME 64
#define RESCTRL_PREFIX "latscope-" /* of our groups: latscope-PID-NUMBER */

struct resctrl_tree {
	int resctrl, proc; /* directories; -1: not open */
	pid_t owner; /* of our groups: the PID in their names */
};

/* 0; -EOPNOTSUPP or -EACCES, with `why`. */
int resctrl_tree__open(struct resctrl_tree *tree, const char *root, char why[RUN_TEXT]);
void resctrl_tree__close(struct resctrl_tree *tree);

/* openat() below a directory that follows no link. A descriptor or -errno. */
int resctrl_tree__at(int dir, const char *path, int flags);

/* The text of a small file, without the last newline. 0 or -errno. */
int resctrl_tree__text(int dir, const char *path, char *text, size_t size);

/* The name of our group `number`, from 1 on. */
void resctrl_tree__name(const struct resctrl_tree *tree, uint32_t number, char name[RESCTRL_NAME]);

int resctrl_tree__make(const struct resctrl_tree *tree, uint32_t number); /* mkdir: 0, -errno */

/* Removes our groups, and what killed latscopes left; the kernel moves their tasks back. */
int resctrl_tree__remove(const struct resctrl_tree *tree);

/* How many groups are of other programs. */
uint32_t resctrl_tree__foreign(const struct resctrl_tree *tree);

/*
 * Moves all threads of a process into our group `number`, 0: into no group of ours. Threads may
 * begin meanwhile, in the group of the thread that makes them: all are looked at again until none
 * is left. Returns how many were moved; -EBUSY: it is in a group of another program, and nothing
 * was changed; -ESRCH: it has ended; -errno.
 */
int resctrl_tree__move(const struct resctrl_tree *tree, uint32_t number, uint32_t tgid);

#endif
