// SPDX-License-Identifier: BSD-2-Clause
#include "recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FLOOR (64ULL << 20)
#define FLOOR_PART 100 /* of a small file system: a hundredth */
#define PAGE 4096
#define LOG_PART 8 /* part of --max-size for the log of run.db */
#define NAMES_PART 8 /* ...and for the names of stacks, which are found at the end */

/*
 * Upper limit of what CSV and JSON add at the end: a metric has up to 37 buckets, a key one line.
 */
#define PER_METRIC 8192ULL
#define PER_KEY 1024ULL
#define PER_CELL 128ULL /* of a key of a table: a column */

uint64_t size_limits__floor(const struct rundir *rundir, uint64_t asked)
{
	struct statvfs fs;
	uint64_t part;

	if (asked != SIZE_LIMITS_MIN_FREE)
		return asked;
	if (fstatvfs(rundir->fd, &fs))
		return 0;
	part = (uint64_t)fs.f_blocks * fs.f_frsize / FLOOR_PART;
	return part < FLOOR ? part : FLOOR;
}

int size_limits__log_pages(uint64_t max_size)
{
	uint64_t pages = max_size / LOG_PART / PAGE;

	return max_size && pages < INT32_MAX ? (int)pages + 1 : 0;
}

/* Size of all files in the directory, and of the log among them. */
static int measure(const struct rundir *rundir, uint64_t *size, uint64_t *log)
{
	int fd = openat(rundir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	*size = *log = 0;
	if (!dir && fd >= 0)
		close(fd);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		*size += (uint64_t)st.st_size;
		if (!strcmp(entry->d_name, "run.db-wal"))
			*log = (uint64_t)st.st_size;
	}
	closedir(dir);
	return 0;
}

static uint64_t of_tables(const struct run_probe *probe)
{
	char name[RUN_NAME];
	uint64_t cells = 0;

	for (unsigned int i = 0; i < RUN_TABLES; i++) {
		const struct table *table = run__table(probe, i, name);

		if (table)
			cells += table__keys(table) * table__columns(table);
	}
	return PER_CELL * cells;
}

/* Bytes that the files will grow by when the recording is closed. */
static uint64_t yet_to_come(const struct run *run, uint64_t log)
{
	uint64_t bytes = log;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		bytes += PER_METRIC * (run->probes[i].nr_metrics + 1);
		bytes += PER_KEY * run->probes[i].total.nr_keys;
		bytes += of_tables(&run->probes[i]);
	}
	return bytes;
}

int size_limits__check(const struct rundir *rundir, const struct run *run, uint64_t max_size,
		       uint64_t min_free)
{
	uint64_t size, log, more;
	struct statvfs fs;

	if (!max_size && !min_free)
		return 0;
	/* If this fails, writing will report the error. */
	if (measure(rundir, &size, &log))
		return 0;
	more = yet_to_come(run, log) + (run->why_by ? max_size / NAMES_PART : 0);
	if (max_size && size + more >= max_size)
		return -EFBIG;
	if (!min_free || fstatvfs(rundir->fd, &fs))
		return 0;
	return (uint64_t)fs.f_bavail * fs.f_frsize < min_free + more ? -ENOSPC : 0;
}
