// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "kinds.h"
#include "workers.h"

#define FILE_BYTES (64UL << 20)
#define BLOCK_BYTES 4096UL
#define FILL_BYTES (1UL << 20)
#define TASKS 4
#define ROUND 16 /* I/Os */

struct file {
	int fd;
	const char *why; /* no direct I/O; NULL: it is */
	unsigned int tasks; /* that each have a part of the file */
};

/* What a task works with. */
struct part {
	const struct file *file;
	off_t start;
	size_t bytes;
	uint64_t random;
	size_t fill_bytes; /* written at once while the part is filled */
	char *buffer; /* of that size, aligned to BLOCK_BYTES */
};

/* xorshift64* */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL >> 32;
}

/* It loses its name at once: whatever happens, nothing is left behind. */
static int make_file(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/latscope-load-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

/* A write tells: overlayfs takes the flag and refuses the I/O. tmpfs takes both since 6.6. */
static const char *direct_problem(int fd)
{
	static char block[BLOCK_BYTES] __attribute__((aligned(BLOCK_BYTES)));
	struct statfs fs;

	if (!fstatfs(fd, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC))
		return "its file system lies in memory";
	if (fcntl(fd, F_SETFL, O_DIRECT) ||
	    pwrite(fd, block, sizeof(block), 0) != (ssize_t)sizeof(block))
		return "its file system has no direct I/O";
	return NULL;
}

static int open_file(struct file *file, const char *dir)
{
	file->fd = make_file(dir);
	if (file->fd < 0)
		return file->fd;
	file->why = direct_problem(file->fd);
	if (file->why)
		fcntl(file->fd, F_SETFL, 0);
	return 0;
}

int load__check_dir(const char *dir, const char **why)
{
	struct file file;
	int err = open_file(&file, dir);

	if (err)
		return err;
	*why = file.why;
	close(file.fd);
	return 0;
}

static int transfer(const struct part *part, bool is_write, off_t offset, size_t bytes)
{
	int fd = part->file->fd;
	ssize_t done;

	if (is_write)
		done = pwrite(fd, part->buffer, bytes, offset);
	else
		done = pread(fd, part->buffer, bytes, offset);
	if (done < 0)
		return -errno;
	return done == (ssize_t)bytes ? 0 : -EIO;
}

/* Without direct I/O: what was written goes to the disk, what is read comes from there. */
static int pass_cache(const struct part *part, bool is_write, off_t offset)
{
	if (!part->file->why)
		return 0;
	if (is_write && fdatasync(part->file->fd))
		return -errno;
	return -posix_fadvise(part->file->fd, offset, BLOCK_BYTES, POSIX_FADV_DONTNEED);
}

/* A block that was never written would be read without the disk. */
static int fill(const struct part *part)
{
	size_t done, bytes;
	int err = 0;

	memset(part->buffer, 0x5a, part->fill_bytes);
	for (done = 0; !err && done < part->bytes; done += bytes) {
		bytes = part->bytes - done;
		bytes = bytes < part->fill_bytes ? bytes : part->fill_bytes;
		err = transfer(part, true, part->start + (off_t)done, bytes);
	}
	if (!err && fdatasync(part->file->fd))
		return -errno;
	return err;
}

static int random_io(struct part *part)
{
	uint64_t blocks = part->bytes / BLOCK_BYTES;
	off_t offset = part->start + next_random(&part->random) % blocks * BLOCK_BYTES;
	bool is_write = next_random(&part->random) % 4 == 0;
	int err = transfer(part, is_write, offset, BLOCK_BYTES);

	return err ? err : pass_cache(part, is_write, offset);
}

static int dio_work(const struct load_config *config, unsigned int index, const void *arg)
{
	struct part part = { .file = arg };
	int err;

	part.bytes = FILE_BYTES / part.file->tasks / BLOCK_BYTES * BLOCK_BYTES;
	part.start = (off_t)(index * part.bytes);
	part.random = (config->seed + index + 1) * 0x9e3779b97f4a7c15ULL;
	part.fill_bytes = part.bytes < FILL_BYTES ? part.bytes : FILL_BYTES;
	part.buffer = aligned_alloc(BLOCK_BYTES, part.fill_bytes);
	if (!part.buffer)
		return -ENOMEM;
	err = fill(&part);
	for (unsigned int count = 1; !err; count++) {
		err = random_io(&part);
		if (count % ROUND == 0)
			workers__pause(config);
	}
	return err; /* the buffer goes with the process */
}

static int dio_run(const struct load_config *config)
{
	struct file file = { .tasks = config->tasks ? config->tasks : TASKS };
	int err = open_file(&file, config->dir);

	if (err)
		return err;
	err = workers__run(file.tasks, dio_work, config, &file);
	close(file.fd);
	return err;
}

const struct load_ops load_dio = {
	.name = "dio",
	.help = "random direct reads and writes of a 64 MiB file: block I/O",
	.uses_dir = true,
	.run = dio_run,
};
