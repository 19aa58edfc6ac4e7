// SPDX-License-Identifier: BSD-2-Clause
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <base/clock.h>

static int sys_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static ssize_t sys_pread(int fd, void *buf, size_t size, off_t offset)
{
	ssize_t got = pread(fd, buf, size, offset);

	return got < 0 ? -errno : got;
}

static ssize_t sys_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	ssize_t got = pwrite(fd, buf, size, offset);

	return got < 0 ? -errno : got;
}

static ssize_t sys_read(int fd, void *buf, size_t size)
{
	ssize_t got = read(fd, buf, size);

	return got < 0 ? -errno : got;
}

static int sys_perf_event_open(struct perf_event_attr *attr, int cpu, int group)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void sys_close(int fd)
{
	close(fd);
}

const struct tier_sys tier_sys_linux = {
	.open = sys_open,
	.pread = sys_pread,
	.pwrite = sys_pwrite,
	.read = sys_read,
	.perf_event_open = sys_perf_event_open,
	.close = sys_close,
	.now_ns = clock__now_ns,
};
