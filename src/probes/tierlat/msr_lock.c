// SPDX-License-Identifier: BSD-2-Clause
/*
 * One latscope at a time uses the registers. The lock is on a register file: only root can open it,
 * so nobody else can hold the lock; it needs no directory, and each register tree has its own. The
 * lock ends with the last process that has the file open, so the restoring process still holds it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <fcntl.h>

#include <host/first_line.h>

#include "msr.h"

#define LOCKS "/proc/locks"

/* The process that holds the lock, from /proc/locks; 0: not listed. */
static int holder_of(int fd)
{
	char wanted[64], file[64], line[256];
	struct stat stat;
	int pid, found = 0;
	FILE *stream;

	if (fstat(fd, &stat))
		return 0;
	snprintf(wanted, sizeof(wanted), "%02x:%02x:%llu", major(stat.st_dev), minor(stat.st_dev),
		 (unsigned long long)stat.st_ino);
	stream = fopen(LOCKS, "re");
	if (!stream)
		return 0;
	while (!found && fgets(line, sizeof(line), stream)) {
		if (sscanf(line, "%*s FLOCK %*s %*s %d %63s", &pid, file) == 2 &&
		    !strcmp(file, wanted))
			found = pid;
	}
	fclose(stream);
	return found;
}

static int explain_held(struct tier *tier, int fd)
{
	int pid = holder_of(fd);
	char path[64], name[64];

	if (pid <= 0)
		return tier__fail(tier, -EBUSY, "end it first",
				  "another latscope is using these counters");
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (!first_line__read("", path, name, sizeof(name)))
		return tier__fail(tier, -EBUSY, "end it first",
				  "these counters are used by %s, PID %d", name, pid);
	return tier__fail(tier, -EBUSY, "try again in a moment",
			  "latscope (PID %d) was killed, and another process restores the "
			  "registers",
			  pid);
}

int msr__lock(struct tier *tier)
{
	struct msr *msr = tier->state;
	char path[PATH_MAX];
	int fd, err;

	/* The first file that opens; every latscope tries them in the same order. */
	for (int cpu = msr__cpu_above(tier, -1); cpu >= 0; cpu = msr__cpu_above(tier, cpu)) {
		if (snprintf(path, sizeof(path), "%s/%d/msr", msr__device_root(tier), cpu) >=
		    PATH_MAX)
			return -ENAMETOOLONG;
		tier->calls++;
		fd = tier->sys->open(path, O_RDONLY);
		if (fd < 0)
			continue;
		err = tier->sys->lock(fd);
		if (!err) {
			msr->lock = fd;
			return 0;
		}
		if (err == -EWOULDBLOCK)
			err = explain_held(tier, fd);
		else
			tier__fail(tier, err, NULL, "cannot lock %s: %s", path, strerror(-err));
		tier->sys->close(fd);
		return err;
	}
	return 0;
}
