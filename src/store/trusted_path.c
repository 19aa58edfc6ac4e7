// SPDX-License-Identifier: BSD-2-Clause
#include "trusted_path.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40 /* the kernel's limit */

/* A path, partly resolved. */
struct walk {
	int fd; /* the directory reached so far */
	char rest[PATH_MAX]; /* the rest of the path */
	unsigned int links;
	const struct caller *caller;
};

/* Root follows links of root, and while files are made for a caller, also links of that user. */
static bool is_ours(const struct walk *walk, uid_t uid)
{
	return geteuid() || !uid || (walk->caller->by_sudo && uid == walk->caller->uid);
}

static int go_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return -errno;
	close(walk->fd);
	walk->fd = fd;
	return 0;
}

static int go_to_root(struct walk *walk)
{
	return go_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Removes the first component from the rest. Empty: there is none. */
static void next_name(struct walk *walk, char name[NAME_MAX + 2])
{
	char *at = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(at, "/");

	/* A name that is too long stays too long: the kernel reports it. */
	snprintf(name, NAME_MAX + 2, "%.*s", (int)len, at);
	memmove(walk->rest, at + len, strlen(at + len) + 1);
}

/* Replaces the link in the path by its target. */
static int follow(struct walk *walk, int link)
{
	char target[PATH_MAX], joined[PATH_MAX];
	ssize_t len;

	if (++walk->links > MOST_LINKS)
		return -ELOOP;
	len = readlinkat(link, "", target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	if ((size_t)snprintf(joined, sizeof(joined), "%s/%s", target, walk->rest) >= sizeof(joined))
		return -ENAMETOOLONG;
	strcpy(walk->rest, joined);
	return target[0] == '/' ? go_to_root(walk) : 0;
}

static int open_name(const struct walk *walk, const char *name)
{
	int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err;

	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* Other users could move the new directory away at once, with everything in it. */
	err = trusted_path__check(walk->fd, walk->caller, false);
	if (err) {
		errno = -err;
		return -1;
	}
	if (mkdirat(walk->fd, name, 0755) && errno != EEXIST)
		return -1;
	return openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static int step(struct walk *walk, const char *name)
{
	struct stat st;
	int fd, err;

	fd = open_name(walk, name);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISLNK(st.st_mode))
		err = is_ours(walk, st.st_uid) ? follow(walk, fd) : -ENOLINK;
	else if (S_ISDIR(st.st_mode))
		return go_to(walk, fd);
	else
		err = -ENOTDIR;
	close(fd);
	return err;
}

/* Checked first: if mkdir() fails halfway, the directories before it would remain. */
static bool has_long_name(const char *path)
{
	size_t len;

	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		len = strcspn(path, "/");
		if (len > NAME_MAX)
			return true;
		path += len;
	}
	return false;
}

int trusted_path__open(const char *path, const struct caller *caller)
{
	struct walk walk = { .caller = caller };
	char name[NAME_MAX + 2];
	int err;

	if (!*path)
		return -ENOENT;
	if (strlen(path) >= sizeof(walk.rest) || has_long_name(path))
		return -ENAMETOOLONG;
	strcpy(walk.rest, path);
	walk.fd = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (walk.fd < 0)
		return -errno;
	for (next_name(&walk, name); *name; next_name(&walk, name)) {
		err = step(&walk, name);
		if (err) {
			close(walk.fd);
			return err;
		}
	}
	return walk.fd;
}

/* With the sticky bit, others can remove only their own files, unless the directory is theirs. */
static bool others_may_write(const struct stat *st, const struct caller *caller)
{
	bool group = st->st_mode & S_IWGRP && st->st_gid && st->st_gid != caller->gid;

	return group || st->st_mode & S_IWOTH;
}

int trusted_path__check(int fd, const struct caller *caller, bool strict)
{
	struct stat st;

	if (geteuid())
		return 0;
	if (fstat(fd, &st))
		return -errno;
	if (strict && st.st_uid)
		return -EREMCHG;
	if (!others_may_write(&st, caller))
		return 0;
	if (st.st_mode & S_ISVTX && (!st.st_uid || st.st_uid == caller->uid))
		return 0;
	return -EREMCHG;
}

int trusted_path__open_above(const char *path, const struct caller *caller)
{
	char copy[PATH_MAX], *dir;
	struct stat st;
	int fd, err;

	if (strlen(path) >= sizeof(copy))
		return -ENAMETOOLONG;
	dir = dirname(strcpy(copy, path));
	/* trusted_path__open() would make it. */
	if (stat(dir, &st))
		return -errno;
	fd = trusted_path__open(dir, caller);
	if (fd < 0)
		return fd;
	err = trusted_path__check(fd, caller, false);
	if (!err)
		return fd;
	close(fd);
	return err;
}
