// SPDX-License-Identifier: BSD-2-Clause
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#define BYTES 4096
#define FIRST 3 /* writes, after which the file system has read what it needs */

/* Writes and reads nothing by itself. Returns a directory, or -1. */
static int mount_nowhere(const char *device)
{
	int fs = fsopen("ext4", FSOPEN_CLOEXEC), at = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_SET_STRING, "source", device, 0) &&
	    !fsconfig(fs, FSCONFIG_SET_FLAG, "noinit_itable", NULL, 0) &&
	    !fsconfig(fs, FSCONFIG_SET_FLAG, "no_prefetch_block_bitmaps", NULL, 0) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		at = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOATIME);
	close(fs);
	return at;
}

int reference_database__open(const char *device)
{
	int directory = mount_nowhere(device), file, err = 0;

	if (directory < 0)
		return -errno;
	file = openat(directory, "database", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	for (int i = 0; file >= 0 && !err && i < FIRST; i++)
		err = reference_database__commit(file);
	if (file < 0 || err || syncfs(file))
		return err ? err : -errno;
	return file;
}

int reference_database__commit(int file)
{
	static const char block[BYTES];

	if (write(file, block, BYTES) != BYTES)
		return -EIO;
	return fdatasync(file) ? -errno : 0;
}
