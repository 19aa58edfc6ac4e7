// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <core/vec.h>
#include <host/process_stat.h>

#include "act_internal.h"

#define CGROUPS "/sys/fs/cgroup"
#define DEEPEST 32 /* levels of cgroups */

uint64_t act_targets__started(const char *root, pid_t pid)
{
	struct process_stat stat;

	if (process_stat__read(root, pid, &stat) || !process_stat__lives(&stat))
		return 0;
	return stat.start_ticks;
}

static int open_cgroup(struct act_targets *targets, char why[TIER_TEXT])
{
	const char *path = targets->target.cgroup;
	bool whole = !strncmp(path, CGROUPS "/", sizeof(CGROUPS));
	char full[PATH_MAX];
	struct statfs fs;

	if (snprintf(full, sizeof(full), "%s%s%s", targets->root, whole ? "" : CGROUPS "/", path) >=
	    PATH_MAX)
		return -ENAMETOOLONG;
	targets->cgroup = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (targets->cgroup < 0) {
		snprintf(why, TIER_TEXT, "cannot open the cgroup: %s", strerror(errno));
		return -errno;
	}
	if (targets->root[0] ||
	    (!fstatfs(targets->cgroup, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC))
		return 0;
	snprintf(why, TIER_TEXT, "the directory is not a cgroup of version 2");
	close(targets->cgroup);
	return -ENOTDIR;
}

int act_targets__open(struct act_targets *targets, char why[TIER_TEXT])
{
	targets->cgroup = -1;
	if (targets->target.cgroup)
		return open_cgroup(targets, why);
	if (!targets->target.pid)
		return 0;
	targets->started = act_targets__started(targets->root, targets->target.pid);
	if (targets->started)
		return 0;
	snprintf(why, TIER_TEXT, "there is no process %d", targets->target.pid);
	return -ESRCH;
}

static int add_pid(const struct act_targets *targets, struct act_pids *pids, long pid)
{
	pid_t added = (pid_t)pid;

	if (pid <= 0 || pid > INT_MAX || pid == targets->own[0] || pid == targets->own[1])
		return 0;
	return vec__append(&pids->pids, &pids->nr, &added, sizeof(added));
}

/* cgroup.procs of a directory. A removed cgroup is -ENODEV or -ENOENT. */
static int add_procs(const struct act_targets *targets, struct act_pids *pids, int dir)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC), err = 0;
	char line[32];
	FILE *stream;

	stream = fd < 0 ? NULL : fdopen(fd, "r");
	if (!stream) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	errno = 0;
	while (!err && fgets(line, sizeof(line), stream))
		err = add_pid(targets, pids, strtol(line, NULL, 10));
	if (!err && ferror(stream))
		err = errno ? -errno : -EIO;
	fclose(stream);
	/* A threaded cgroup: its processes are listed in the one above. */
	return err == -EOPNOTSUPP ? 0 : err;
}

/* Takes the directory. One that is removed meanwhile is left out, unless it is the first. */
static int add_cgroup(const struct act_targets *targets, struct act_pids *pids, int dir,
		      unsigned int depth)
{
	struct dirent *entry;
	DIR *stream;
	int err, fd;

	err = add_procs(targets, pids, dir);
	stream = err ? NULL : fdopendir(dir);
	if (!stream) {
		close(dir);
		return depth && err != -ENOMEM ? 0 : err;
	}
	while (!err && depth < DEEPEST && (entry = readdir(stream))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		fd = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			err = add_cgroup(targets, pids, fd, depth + 1);
	}
	closedir(stream);
	return err;
}

static int add_all(const struct act_targets *targets, struct act_pids *pids)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc", targets->root);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = add_pid(targets, pids, strtol(entry->d_name, NULL, 10));
	closedir(dir);
	return err;
}

int act_targets__list(const struct act_targets *targets, struct act_pids *pids)
{
	pid_t pid = targets->target.pid;
	int err, dir;

	*pids = (struct act_pids){ 0 };
	if (pid) {
		err = act_targets__started(targets->root, pid) == targets->started
			      ? add_pid(targets, pids, pid)
			      : -ESRCH;
	} else if (targets->cgroup >= 0) {
		/* Not dup(): it would share the position in the directory. */
		dir = openat(targets->cgroup, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = dir < 0 ? -errno : add_cgroup(targets, pids, dir, 0);
		if (err == -ENOENT || err == -ENODEV)
			err = -ESRCH;
	} else {
		err = add_all(targets, pids);
	}
	if (err)
		free(pids->pids);
	return err;
}
