// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives.h"
#include "workers.h"

#define ROUND 16 /* I/Os */
#define PARTS 10000 /* resolution of the share of writes */

struct file {
	int fd;
	const char *why; /* why direct I/O is not possible; NULL: it is */
	unsigned int tasks; /* each has a part of the file */
	size_t bytes, block;
};

struct part {
	const struct file *file;
	off_t start;
	size_t bytes;
	uint64_t random, next; /* the block that a sequential load transfers next */
	char *buffer; /* one block, aligned to its size */
};

int load__check_dir(const char *dir, const char **why)
{
	int fd = direct_file__create(dir);

	if (fd < 0)
		return fd;
	*why = direct_file__switch(fd);
	close(fd);
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
	return -posix_fadvise(part->file->fd, offset, (off_t)part->file->block,
			      POSIX_FADV_DONTNEED);
}

static int transfer(const struct load_config *config, struct part *part)
{
	size_t size = part->file->block;
	uint64_t blocks = part->bytes / size;
	uint64_t block = config->sequential ? part->next++ : load__random(&part->random);
	off_t offset = part->start + (off_t)(block % blocks * size);
	bool is_write = (double)(load__random(&part->random) % PARTS) < config->writes * PARTS;
	int err = direct_file__transfer(part->file->fd, is_write, part->buffer, size, offset);

	return err ? err : pass_cache(part, is_write, offset);
}

static int dio_work(const struct load_config *config, unsigned int index, const void *arg)
{
	struct part part = { .file = arg };
	size_t block = part.file->block;
	int err;

	part.bytes = part.file->bytes / part.file->tasks / block * block;
	part.start = (off_t)(index * part.bytes);
	part.random = load__seed(config->seed, index);
	part.buffer = aligned_alloc(LOAD_BLOCK, block);
	if (!part.buffer)
		return -ENOMEM;
	memset(part.buffer, 0x5a, block);
	err = direct_file__fill(part.file->fd, part.start, part.bytes);
	for (unsigned int count = 1; !err; count++) {
		err = transfer(config, &part);
		if (count % ROUND == 0)
			workers__pause(config);
	}
	return err; /* the buffer is freed when the process ends */
}

static int dio_run(const struct load_config *config)
{
	struct file file = { .fd = direct_file__create(config->dir),
			     .tasks = config->tasks ? config->tasks : LOAD_DIO_TASKS,
			     .bytes = config->bytes ? config->bytes : LOAD_FILE_BYTES,
			     .block = config->block ? config->block : LOAD_BLOCK };
	int err;

	if (file.fd < 0)
		return file.fd;
	file.why = direct_file__switch(file.fd);
	err = workers__run(file.tasks, dio_work, config, &file);
	close(file.fd);
	return err;
}

const struct load_ops load_dio = {
	.name = "dio",
	.help = "direct reads and writes in a file of 64 MiB: block I/O",
	.uses_dir = true,
	.uses_bytes = true,
	.run = dio_run,
};
