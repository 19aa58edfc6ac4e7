// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives.h"
#include "workers.h"

#define FILE_BYTES (64UL << 20)
#define BLOCK_BYTES 4096UL
#define TASKS 4
#define ROUND 16 /* I/Os */

struct file {
	int fd;
	const char *why; /* why direct I/O is not possible; NULL: it is */
	unsigned int tasks; /* each has a part of the file */
};

struct part {
	const struct file *file;
	off_t start;
	size_t bytes;
	uint64_t random;
	char *buffer; /* one block, aligned to its size */
};

static int open_file(struct file *file, const char *dir)
{
	file->fd = direct_file__create(dir);
	if (file->fd < 0)
		return file->fd;
	file->why = direct_file__switch(file->fd);
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

/*
 * Without direct I/O: writes a block to the disk at once, and drops it, so that the next read comes
 * from the disk.
 */
static int pass_cache(const struct part *part, bool is_write, off_t offset)
{
	if (!part->file->why)
		return 0;
	if (is_write && fdatasync(part->file->fd))
		return -errno;
	return -posix_fadvise(part->file->fd, offset, BLOCK_BYTES, POSIX_FADV_DONTNEED);
}

static int random_io(struct part *part)
{
	uint64_t blocks = part->bytes / BLOCK_BYTES;
	off_t offset = part->start + load__random(&part->random) % blocks * BLOCK_BYTES;
	bool is_write = load__random(&part->random) % 4 == 0;
	int err =
		direct_file__transfer(part->file->fd, is_write, part->buffer, BLOCK_BYTES, offset);

	return err ? err : pass_cache(part, is_write, offset);
}

static int dio_work(const struct load_config *config, unsigned int index, const void *arg)
{
	struct part part = { .file = arg };
	int err;

	part.bytes = FILE_BYTES / part.file->tasks / BLOCK_BYTES * BLOCK_BYTES;
	part.start = (off_t)(index * part.bytes);
	part.random = load__seed(config->seed, index);
	part.buffer = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
	if (!part.buffer)
		return -ENOMEM;
	memset(part.buffer, 0x5a, BLOCK_BYTES);
	err = direct_file__fill(part.file->fd, part.start, part.bytes);
	for (unsigned int count = 1; !err; count++) {
		err = random_io(&part);
		if (count % ROUND == 0)
			workers__pause(config);
	}
	return err; /* the buffer is freed when the process ends */
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
	.help = "random direct reads and writes in a 64 MiB file: block I/O",
	.uses_dir = true,
	.run = dio_run,
};
