// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "primitives.h"

#define BLOCK 4096
#define FILL_BYTES (1UL << 20)

/* For file systems without O_TMPFILE: the name is removed at once. */
static int create_and_unlink(int dir)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d/.latscope-XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

/*
 * O_TMPFILE: without a name, the owner of the directory cannot redirect the open to another file.
 */
int direct_file__create(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	if (dir < 0)
		return -errno;
	fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = -errno;
	if (fd == -EOPNOTSUPP || fd == -EISDIR || fd == -EINVAL)
		fd = create_and_unlink(dir);
	close(dir);
	return fd;
}

bool direct_file__is_in_memory(int fd)
{
	struct statfs fs;
	struct stat stat;

	/* A device node is on tmpfs, too. */
	return !fstat(fd, &stat) && S_ISREG(stat.st_mode) && !fstatfs(fd, &fs) &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* overlayfs accepts the flag and refuses the I/O: only a write shows it. */
const char *direct_file__switch(int fd)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));

	if (direct_file__is_in_memory(fd))
		return "its file system is in memory";
	if (!fcntl(fd, F_SETFL, O_DIRECT) &&
	    !direct_file__transfer(fd, true, block, sizeof(block), 0))
		return NULL;
	fcntl(fd, F_SETFL, 0);
	return "its file system does not support direct I/O";
}

int direct_file__fill(int fd, off_t start, uint64_t bytes)
{
	static char data[FILL_BYTES] __attribute__((aligned(BLOCK)));
	uint64_t todo = (bytes + BLOCK - 1) / BLOCK * BLOCK, size = sizeof(data);
	int err = 0;

	size = todo < size ? todo : size;
	memset(data, 0x5a, size);
	for (; !err && todo; todo -= size, start += (off_t)size) {
		size = todo < size ? todo : size;
		err = direct_file__transfer(fd, true, data, size, start);
	}
	return err || !fsync(fd) ? err : -errno;
}

int direct_file__transfer(int fd, bool write, void *buffer, size_t bytes, off_t offset)
{
	ssize_t done = write ? pwrite(fd, buffer, bytes, offset) : pread(fd, buffer, bytes, offset);

	if (done < 0)
		return -errno;
	return done == (ssize_t)bytes ? 0 : -EIO;
}
