// SPDX-License-Identifier: BSD-2-Clause
#include "append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caller.h"
#include "trusted_path.h"

/* A second name may be anywhere: for root it may be a file that root would never write to. */
static int check(int fd, bool fresh, const struct caller *caller)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_nlink > 1 || (st.st_uid != caller->uid && st.st_uid))
		return -EREMCHG;
	return fresh && st.st_size ? -EEXIST : 0;
}

static int open_in(int dir, const char *name, const struct caller *caller)
{
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd, err = caller__enter(caller);

	if (err)
		return err;
	fd = openat(dir, name, flags, 0644);
	err = fd < 0 ? -errno : 0;
	caller__leave();
	if (err == -ENXIO) /* a pipe that nobody reads */
		return -EINVAL;
	return err == -ELOOP ? -ENOLINK : err ? err : fd;
}

int append_file__open(FILE **file, const char *path, bool fresh)
{
	const struct caller caller = caller__find();
	int dir = trusted_path__open_above(path, &caller), fd, err;
	char copy[PATH_MAX];

	if (dir < 0)
		return dir;
	fd = open_in(dir, basename(strcpy(copy, path)), &caller);
	close(dir);
	if (fd < 0)
		return fd;
	err = check(fd, fresh, &caller);
	*file = err ? NULL : fdopen(fd, "a");
	if (*file)
		return 0;
	err = err ? err : -errno;
	close(fd);
	return err;
}

const char *append_file__explain(int err)
{
	switch (err) {
	case -EINVAL:
		return "not a regular file";
	case -ENOLINK:
		return "it is a symbolic link, or in a directory behind one of another user";
	case -EREMCHG:
		return "other users own it or can replace it";
	default:
		return strerror(-err);
	}
}
