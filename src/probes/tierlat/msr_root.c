// SPDX-License-Identifier: BSD-2-Clause
/*
 * Root writes to the files of --msr-root as if they were registers. So nobody else may be able to
 * put another file there: each directory on the way must be root's, and writable by root only.
 */
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "msr.h"

#define MOUNTS "/proc/self/mountinfo"

/* With the sticky bit, others cannot replace what root has made there; they can add to it. */
static bool is_roots(const struct stat *stat, bool last)
{
	bool shared = stat->st_mode & (S_IWGRP | S_IWOTH);

	return !stat->st_uid && (!shared || (!last && stat->st_mode & S_ISVTX));
}

/* Is the FUSE file system with this device served by a process of root? */
static bool is_served_by_root(dev_t device)
{
	char wanted[32], at[32], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *mounts;

	snprintf(wanted, sizeof(wanted), "%u:%u", major(device), minor(device));
	mounts = fopen(MOUNTS, "re");
	while (mounts && !found && getline(&line, &size, mounts) > 0) {
		/* The last field. The one before is the source: any text of the user's. */
		const char *options = strrchr(line, ' ');

		found = sscanf(line, "%*d %*d %31s", at) == 1 && !strcmp(at, wanted) && options &&
			strstr(options, ",user_id=0,");
	}
	if (mounts)
		fclose(mounts);
	free(line);
	return found;
}

/* What a FUSE file system says of its files' owners is not to be believed. */
static bool is_trusted(const char *path, bool last)
{
	struct statfs fs;
	struct stat stat;

	if (lstat(path, &stat) || !is_roots(&stat, last) || statfs(path, &fs))
		return false;
	return fs.f_type != FUSE_SUPER_MAGIC || is_served_by_root(stat.st_dev);
}

/* The first directory on the way that is not root's, in path itself; NULL: there is none. */
static const char *find_foreign(char path[PATH_MAX])
{
	size_t whole = strlen(path);

	for (size_t end = 1; end <= whole; end++) {
		char kept = path[end];

		if (end > 1 && kept != '/' && kept)
			continue;
		path[end] = '\0';
		if (!is_trusted(path, end == whole))
			return path;
		path[end] = kept;
	}
	return NULL;
}

int msr__check_root(struct tier *tier)
{
	const char *root = tier->config.msr_root, *foreign;
	char path[PATH_MAX];

	/* A path that does not exist is reported where it is opened. */
	if (geteuid() || !root || tier->sys != &tier_sys_linux || !realpath(root, path))
		return 0;
	foreign = find_foreign(path);
	if (!foreign)
		return 0;
	return tier__fail(tier, -EPERM, "use a directory that only root can change",
			  "others than root can change %.150s, so root writes no registers there",
			  foreign);
}
