// SPDX-License-Identifier: BSD-2-Clause
#include "own_cgroup.h"

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

#include <host/restore.h>

#define PREFIX "latscope-own-" /* then the PID of the owner */
/* Of the removal, 10 ms each. A killed process ends only once the disk has answered it. */
#define TRIES 6000

struct own_cgroup {
	char path[PATH_MAX];
	int procs; /* cgroup.procs */
	struct restore *restore;
};

static const struct kind {
	enum own_cgroup_limit limit;
	const char *type, *option; /* of the mount */
	const char *file;
	const char *weight, *largest; /* another file, and what is written to it; or NULL */
} kinds[] = {
	{ OWN_CGROUP_MEMORY, "cgroup2", NULL, "memory.max", NULL, NULL },
	{ OWN_CGROUP_MEMORY, "cgroup", "memory", "memory.limit_in_bytes", NULL, NULL },
	{ OWN_CGROUP_QUOTA, "cgroup2", NULL, "cpu.max", "cpu.weight", "10000" },
	{ OWN_CGROUP_QUOTA, "cgroup", "cpu", "cpu.cfs_quota_us", "cpu.shares", "262144" },
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
	const struct own_cgroup *cgroup = arg;

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
static int make(struct own_cgroup *cgroup, const struct kind *kind, uint64_t value)
{
	static const struct restore_ops ops = { .undo = remove_cgroup };
	char mount[PATH_MAX], limit[32];
	int err;

	if (!find_mount(kind, mount))
		return -ENODEV;
	remove_stale(mount);
	snprintf(cgroup->path, PATH_MAX, "%.4000s/" PREFIX "%d", mount, getpid());
	if (mkdir(cgroup->path, 0755))
		return -errno;
	snprintf(limit, sizeof(limit), "%" PRIu64, value); /* cpu.max keeps its period */
	err = write_to(cgroup->path, kind->file, limit);
	if (!err && kind->weight)
		err = write_to(cgroup->path, kind->weight, kind->largest);
	if (!err) {
		cgroup->procs = open_file(cgroup->path, "cgroup.procs");
		err = cgroup->procs < 0 ? cgroup->procs : 0;
	}
	if (!err) {
		err = restore__begin(&cgroup->restore, &ops, cgroup);
		if (err)
			close(cgroup->procs);
	}
	if (err)
		rmdir(cgroup->path);
	return err == -ENOENT ? -ENODEV : err;
}

int own_cgroup__new(struct own_cgroup **out, enum own_cgroup_limit limit, uint64_t value)
{
	struct own_cgroup *cgroup = calloc(1, sizeof(*cgroup));
	int err = -ENODEV;

	if (!cgroup)
		return -ENOMEM;
	for (size_t i = 0; err == -ENODEV && i < KINDS; i++)
		if (kinds[i].limit == limit)
			err = make(cgroup, &kinds[i], value);
	if (err)
		free(cgroup);
	else
		*out = cgroup;
	return err;
}

const char *own_cgroup__path(const struct own_cgroup *cgroup)
{
	return cgroup->path;
}

int own_cgroup__enter(const struct own_cgroup *cgroup)
{
	return write(cgroup->procs, "0", 1) < 0 ? -errno : 0;
}

int own_cgroup__free(struct own_cgroup *cgroup)
{
	int err;

	if (!cgroup)
		return 0;
	close(cgroup->procs);
	err = restore__end(cgroup->restore, false);
	free(cgroup);
	return err;
}
