// SPDX-License-Identifier: BSD-2-Clause
#include "memory_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <core/restore.h>

#define PREFIX "latscope-pressure-" /* then the PID of the owner */
/* Of the removal, 10 ms each. A killed process ends only once the disk has answered it. */
#define TRIES 6000

struct memory_cgroup {
	char path[PATH_MAX];
	int procs; /* cgroup.procs */
	struct restore *restore;
};

/* The files of a hierarchy that limit the memory; the first one must exist. */
static const struct kind {
	const char *type, *option; /* of the mount */
	const char *limit;
} kinds[] = {
	{ "cgroup2", NULL, "memory.max" },
	{ "cgroup", "memory", "memory.limit_in_bytes" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool find_mount(const struct kind *kind, char mount[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *entry;
	bool found = false;

	while (mounts && !found && (entry = getmntent(mounts))) {
		found = !strcmp(entry->mnt_type, kind->type) &&
			(!kind->option || hasmntopt(entry, kind->option));
		if (found)
			snprintf(mount, PATH_MAX, "%.4000s", entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

static int open_file(const char *path, const char *name)
{
	char full[PATH_MAX + 32];
	int fd;

	snprintf(full, sizeof(full), "%s/%s", path, name);
	fd = open(full, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int write_to(const char *path, const char *name, const char *text)
{
	int fd = open_file(path, name), err = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Kernels before 5.14 have no cgroup.kill. */
static void kill_all(const char *path)
{
	char full[PATH_MAX + 16];
	FILE *procs;
	int pid;

	if (!write_to(path, "cgroup.kill", "1"))
		return;
	snprintf(full, sizeof(full), "%s/cgroup.procs", path);
	procs = fopen(full, "re");
	while (procs && fscanf(procs, "%d", &pid) == 1)
		if (pid > 0)
			kill(pid, SIGKILL);
	if (procs)
		fclose(procs);
}

static int remove_cgroup(void *arg)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	const struct memory_cgroup *cgroup = arg;

	for (int i = 0; i < TRIES; i++) {
		if (!rmdir(cgroup->path) || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		kill_all(cgroup->path);
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

/* Those whose owner was killed together with the process that should have removed them. */
static void remove_stale(const char *mount)
{
	DIR *dir = opendir(mount);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		long pid;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		pid = strtol(entry->d_name + strlen(PREFIX), NULL, 10);
		if (pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

/* Without the controller, the directory has no file for the limit. */
static int make(struct memory_cgroup *cgroup, const struct kind *kind, uint64_t bytes)
{
	char mount[PATH_MAX], limit[32];
	int err;

	if (!find_mount(kind, mount))
		return -ENODEV;
	remove_stale(mount);
	snprintf(cgroup->path, PATH_MAX, "%.4000s/" PREFIX "%d", mount, getpid());
	if (mkdir(cgroup->path, 0755))
		return -errno;
	snprintf(limit, sizeof(limit), "%" PRIu64, bytes);
	err = write_to(cgroup->path, kind->limit, limit);
	if (!err) {
		cgroup->procs = open_file(cgroup->path, "cgroup.procs");
		err = cgroup->procs < 0 ? cgroup->procs : 0;
	}
	if (err)
		rmdir(cgroup->path);
	return err == -ENOENT ? -ENODEV : err;
}

int memory_cgroup__new(struct memory_cgroup **out, uint64_t bytes)
{
	static const struct restore_ops ops = { .undo = remove_cgroup };
	struct memory_cgroup *cgroup = calloc(1, sizeof(*cgroup));
	int err = -ENODEV;

	if (!cgroup)
		return -ENOMEM;
	for (size_t i = 0; err == -ENODEV && i < KINDS; i++)
		err = make(cgroup, &kinds[i], bytes);
	if (err) {
		free(cgroup);
		return err;
	}
	err = restore__begin(&cgroup->restore, &ops, cgroup);
	if (err) {
		close(cgroup->procs);
		rmdir(cgroup->path);
		free(cgroup);
		return err;
	}
	*out = cgroup;
	return 0;
}

int memory_cgroup__enter(const struct memory_cgroup *cgroup)
{
	return write(cgroup->procs, "0", 1) < 0 ? -errno : 0;
}

int memory_cgroup__free(struct memory_cgroup *cgroup)
{
	int err;

	if (!cgroup)
		return 0;
	close(cgroup->procs);
	err = restore__end(cgroup->restore, false);
	free(cgroup);
	return err;
}
