// SPDX-License-Identifier: BSD-2-Clause
#include "rundir.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TRIES 1000
#define LABEL 64

char *rundir__utc(time_t when, char *text, size_t size)
{
	struct tm tm;

	strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&when, &tm));
	return text;
}

static int make_one(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int make_all(const char *path)
{
	char part[PATH_MAX];
	int err;

	if (!*path)
		return -ENOENT;
	if (strlen(path) >= sizeof(part))
		return -ENAMETOOLONG;
	strcpy(part, path);
	for (char *at = part + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		err = make_one(part);
		if (err)
			return err;
		*at = '/';
	}
	return make_one(part);
}

static void clean_label(char out[LABEL], const char *label)
{
	size_t len = 0;

	for (; *label && len + 1 < LABEL; label++) {
		bool plain = isascii(*label) && (isalnum(*label) || strchr("._-", *label));

		out[len++] = plain ? *label : '-';
	}
	out[len] = '\0';
}

/* Two recordings may begin within one second: mkdir() decides who has the name. */
static int make_new(char *path, size_t size)
{
	size_t len = strlen(path);

	for (int i = 2; mkdir(path, 0777); i++) {
		if (errno != EEXIST)
			return -errno;
		if (i > MOST_TRIES)
			return -EEXIST;
		if (snprintf(path + len, size - len, "-%d", i) >= (int)(size - len))
			return -ENAMETOOLONG;
	}
	return 0;
}

int rundir__create(const char *parent, time_t when, const char *label, char *path, size_t size)
{
	char stamp[32], suffix[LABEL] = "";
	size_t len = strlen(parent);
	struct tm tm;
	int err;

	err = make_all(parent);
	if (err)
		return err;
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&when, &tm));
	if (label)
		clean_label(suffix, label);
	while (len && parent[len - 1] == '/')
		len--;
	if (snprintf(path, size, "%.*s/%s%s%s", (int)len, parent, stamp, *suffix ? "-" : "",
		     suffix) >= (int)size)
		return -ENAMETOOLONG;
	return make_new(path, size);
}

/*
 * A lock on the directory, not on run.db: whoever closes a file of its own on run.db would take
 * SQLite's locks with it.
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

/* Shared, so that two who ask at the same time do not take each other for the recorder. */
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
