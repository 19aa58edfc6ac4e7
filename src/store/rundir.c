// SPDX-License-Identifier: BSD-2-Clause
#include "rundir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trusted_path.h"

#define MOST_TRIES 1000

char *rundir__utc(time_t when, char *text, size_t size)
{
	struct tm tm;

	strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&when, &tm));
	return text;
}

static void clean_label(char out[RUNDIR_LABEL], const char *label)
{
	size_t len = 0;

	for (; *label && len + 1 < RUNDIR_LABEL; label++) {
		bool plain = isascii(*label) && (isalnum(*label) || strchr("._-", *label));

		out[len++] = plain ? *label : '-';
	}
	out[len] = '\0';
}

static int write_path(char *path, size_t size, const char *parent, const char *name)
{
	size_t len = strlen(parent);

	while (len && parent[len - 1] == '/')
		len--;
	if (snprintf(path, size, "%.*s/%s", (int)len, parent, name) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

static bool is_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	bool empty = dir;

	if (!dir && copy >= 0)
		close(copy);
	while (dir && empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

/*
 * The owner of the parent may have replaced the new directory by another one. An empty directory
 * that nobody else may use is safe.
 */
static int open_made(struct rundir *rundir, int parent, uid_t uid)
{
	int fd = openat(parent, rundir->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!geteuid() &&
	    (fstat(fd, &st) || st.st_uid != uid || st.st_mode & 077 || !is_empty(fd))) {
		close(fd);
		return -ESTALE;
	}
	rundir->fd = fd;
	return 0;
}

/* Two recordings may start in the same second: mkdir() decides which one gets the name. */
static int make_new(struct rundir *rundir, int parent, const char *name)
{
	strcpy(rundir->name, name);
	for (int i = 2; mkdirat(parent, rundir->name, 0700); i++) {
		if (errno != EEXIST || i > MOST_TRIES)
			return -errno;
		snprintf(rundir->name, sizeof(rundir->name), "%.*s-%d", NAME_MAX - 8, name, i);
	}
	return 0;
}

/* `uid` becomes the owner; `strict` is for trusted_path__check(). */
static int make_in(struct rundir *rundir, const char *parent, const char *name, uid_t uid,
		   bool strict)
{
	struct caller maker = { .uid = uid,
				.gid = rundir->owner.gid,
				.by_sudo = rundir->owner.by_sudo && !strict };
	int at, err;

	at = trusted_path__open(parent, &maker);
	if (at < 0)
		return at;
	err = trusted_path__check(at, &maker, strict) ?:
	      make_new(rundir, at, name) ?:
	      open_made(rundir, at, uid);
	if (err)
		close(at);
	else
		rundir->parent = at;
	return err;
}

static int give_away(const struct rundir *rundir)
{
	int err = 0;

	if (fchown(rundir->fd, rundir->owner.uid, rundir->owner.gid)) {
		err = -errno;
		unlinkat(rundir->parent, rundir->name, AT_REMOVEDIR);
		close(rundir->parent);
		close(rundir->fd);
	}
	return err;
}

/* Where the caller may not write, root makes the directory and gives it to the caller. */
static int make_for_caller(struct rundir *rundir, const char *parent, const char *name)
{
	int err;

	err = caller__enter(&rundir->owner);
	if (!err) {
		err = make_in(rundir, parent, name, rundir->owner.uid, false);
		caller__leave();
	}
	if (err != -EACCES && err != -EPERM)
		return err;
	err = make_in(rundir, parent, name, geteuid(), true);
	rundir->is_by_root = !err;
	return err ? err : give_away(rundir);
}

int rundir__create(struct rundir *rundir, const char *parent, time_t when, const char *label,
		   char *path, size_t size)
{
	char stamp[32], suffix[RUNDIR_LABEL] = "", name[sizeof(stamp) + RUNDIR_LABEL];
	struct stat st;
	struct tm tm;
	int err;

	memset(rundir, 0, sizeof(*rundir));
	rundir->owner = caller__find();
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&when, &tm));
	if (label)
		clean_label(suffix, label);
	snprintf(name, sizeof(name), "%s%s%s", stamp, *suffix ? "-" : "", suffix);
	if (rundir->owner.by_sudo)
		err = make_for_caller(rundir, parent, name);
	else
		err = make_in(rundir, parent, name, geteuid(), false);
	if (err)
		return err;
	snprintf(rundir->at, sizeof(rundir->at), "/proc/self/fd/%d", rundir->fd);
	err = lstat(rundir->at, &st) ? -ENOSYS : write_path(path, size, parent, rundir->name);
	if (err)
		rundir__discard(rundir);
	return err;
}

int rundir__create_in(struct rundir *rundir, const struct rundir *above, const char *name)
{
	int err = 0;

	memset(rundir, 0, sizeof(*rundir));
	rundir->owner = above->owner;
	rundir->is_entered = above->is_entered;
	snprintf(rundir->name, sizeof(rundir->name), "%s", name);
	rundir->parent = openat(above->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rundir->parent < 0)
		return -errno;
	if (mkdirat(rundir->parent, name, 0700)) {
		err = -errno;
		goto close_parent;
	}
	rundir->fd = openat(rundir->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rundir->fd < 0) {
		err = -errno;
		goto close_parent;
	}
	snprintf(rundir->at, sizeof(rundir->at), "/proc/self/fd/%d", rundir->fd);
	return 0;

close_parent:
	close(rundir->parent);
	return err;
}

const char *rundir__explain(int err)
{
	switch (err) {
	case -ENOLINK:
		return "a symbolic link in it belongs to another user";
	case -EREMCHG:
		return "other users can rename or replace what is in it";
	case -ESTALE:
		return "the new directory was replaced, or its file system keeps no owners";
	case -ENOSYS:
		return "its files are opened through /proc, which is not mounted";
	default:
		return strerror(-err);
	}
}

/*
 * Opens the new file again: on a network file system without owners, it may belong to another user.
 */
int rundir__try(const struct rundir *rundir)
{
	static const char name[] = ".tried";
	int fd = openat(rundir->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	int err;

	if (fd < 0)
		return -errno;
	close(fd);
	fd = openat(rundir->fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (unlinkat(rundir->fd, name, 0) && !err)
		err = -errno;
	return err;
}

void rundir__close(struct rundir *rundir)
{
	if (!rundir->at[0])
		return;
	close(rundir->fd);
	close(rundir->parent);
	rundir->at[0] = '\0';
}

void rundir__discard(struct rundir *rundir)
{
	if (!rundir->at[0])
		return;
	/*
	 * A process that gave up root may still have the privileges; otherwise an empty directory
	 * remains.
	 */
	if (!rundir->is_by_root)
		rundir__enter(rundir);
	else if (!geteuid())
		caller__leave();
	unlinkat(rundir->parent, rundir->name, AT_REMOVEDIR);
	rundir__leave(rundir);
	rundir__close(rundir);
}

void rundir__enter(const struct rundir *rundir)
{
	if (rundir->at[0] && !rundir->is_entered)
		caller__enter(&rundir->owner);
}

void rundir__leave(const struct rundir *rundir)
{
	if (rundir->at[0] && rundir->owner.by_sudo && !rundir->is_entered)
		caller__leave();
}

int rundir__enter_for_good(struct rundir *rundir)
{
	int err;

	if (!rundir->at[0] || rundir->is_entered)
		return 0;
	err = caller__enter(&rundir->owner);
	rundir->is_entered = !err;
	return err;
}

/*
 * A lock on the directory, not on run.db: closing any descriptor of run.db would release SQLite's
 * locks.
 */
int rundir__hold(const char *dir)
{
	int fd, err;

	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/*
 * Uses a shared lock, so that two callers at the same time do not take each other for the recorder.
 */
bool rundir__is_held(const char *path)
{
	char dir[PATH_MAX];
	bool held;
	int fd;

	if (snprintf(dir, sizeof(dir), "%s", path) >= PATH_MAX)
		return false;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR)
		fd = open(dirname(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

bool rundir__same_file(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

bool rundir__was_moved(const struct rundir *rundir)
{
	struct stat here, there;

	if (fstat(rundir->fd, &here))
		return false;
	if (fstatat(rundir->parent, rundir->name, &there, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	return !rundir__same_file(&here, &there);
}
