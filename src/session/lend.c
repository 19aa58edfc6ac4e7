// SPDX-License-Identifier: BSD-2-Clause
#include "lend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cap-ng.h>

static void close_all_but(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	for (int fd = 0; fd < high; fd++)
		if (fd != low)
			close(fd);
	closefrom(high + 1);
}

/* This process needs only one privilege and two descriptors. */
static void settle(void *arg, int socket)
{
	const struct recording *recording = arg;

	close_all_but(socket, recording->rundir.fd);
	capng_clear(CAPNG_SELECT_BOTH);
	capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_CHOWN);
	capng_apply(CAPNG_SELECT_BOTH);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int give_back_dir(int fd, const struct stat *st);

/*
 * An attacker may control the writer: symbolic links are not followed, and a file with a second
 * hard link keeps its owner. -EMLINK: so does a file of the recording that has one.
 */
static int give_back(int dir, const char *name, bool deep)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0 &&
	    errno == ENOENT) /* removed since it was listed, as SQLite does with a journal */
		return 0;
	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else if (S_ISDIR(st.st_mode) && deep)
		err = give_back_dir(fd, &st);
	else if (!S_ISREG(st.st_mode) || !st.st_uid)
		err = 0;
	else if (st.st_nlink > 1)
		err = -EMLINK;
	else if (fchownat(fd, "", 0, 0, AT_EMPTY_PATH))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int give_back_files(int fd, bool deep)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int first = 0, err;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		err = is_dot(entry->d_name) ? 0 : give_back(fd, entry->d_name, deep);
		first = first ? first : err;
	}
	closedir(dir);
	return first;
}

/*
 * A segment of a flight recorder, which is a directory in the recording's, and no deeper. The
 * directory first, as below. `fd` is only a path.
 */
static int give_back_dir(int fd, const struct stat *st)
{
	int dir;

	if (st->st_uid && fchownat(fd, "", 0, 0, AT_EMPTY_PATH))
		return -errno;
	dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : give_back_files(dir, false);
}

/* The directory first: this process cannot override the permissions of another owner. */
static int undo(void *arg)
{
	const struct recording *recording = arg;
	int dir = recording->rundir.fd, fd;
	struct stat st;

	if (fstat(dir, &st))
		return -errno;
	if (st.st_uid && (fchown(dir, 0, 0) || fchmod(dir, 0700)))
		return -errno;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : give_back_files(fd, true);
}

int lend__begin(struct restore **restore, struct recording *recording)
{
	static const struct restore_ops ops = { .settle = settle, .undo = undo };

	if (!recording->dir[0] || geteuid() || recording->rundir.owner.by_sudo)
		return 0;
	/* Without it no owner can be changed. */
	capng_get_caps_process();
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_CHOWN))
		return 0;
	return restore__begin(restore, &ops, recording);
}

int lend__end(struct restore *restore)
{
	return restore__end(restore, false);
}
