// SPDX-License-Identifier: BSD-2-Clause
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <core/clock.h>

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

static int sys_lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

static void sys_close(int fd)
{
	close(fd);
}

/* 2^46 to 2^47: hours away from 0 (a reset) and from the wrap. */
static uint64_t sys_first_count(void)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = clock__now_ns() * 0x9e3779b97f4a7c15;
	return 1ULL << 46 | random >> 18;
}

const struct tier_sys tier_sys_linux = {
	.open = sys_open,
	.pread = sys_pread,
	.pwrite = sys_pwrite,
	.read = sys_read,
	.perf_event_open = sys_perf_event_open,
	.lock = sys_lock,
	.close = sys_close,
	.now_ns = clock__now_ns,
	.first_count = sys_first_count,
};
