// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "kinds.h"
#include "workers.h"

#define PAGE 4096
#define TASKS 8 /* most that are taken unasked */
#define ROUND_BYTES (16UL << 20)
#define TOTAL_BYTES (128UL << 20) /* over all tasks */

static int touch_pages(size_t bytes)
{
	volatile char *map =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return -errno;
	/* Fails only where there are no huge pages to rule out. */
	madvise((char *)map, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += PAGE)
		map[i] = 1;
	munmap((char *)map, bytes);
	return 0;
}

static int touch_work(const struct load_config *config, unsigned int index, const void *arg)
{
	size_t bytes = *(const size_t *)arg;
	int err;

	(void)index;
	for (;;) {
		err = touch_pages(bytes);
		if (err)
			return err;
		workers__pause(config);
	}
}

static int touch_run(const struct load_config *config)
{
	unsigned int cpus = workers__cpus(), tasks = config->tasks;
	size_t bytes;

	if (!tasks)
		tasks = cpus < TASKS ? cpus : TASKS;
	bytes = TOTAL_BYTES / tasks < ROUND_BYTES ? TOTAL_BYTES / tasks : ROUND_BYTES;
	return workers__run(tasks, touch_work, config, &bytes);
}

const struct load_ops load_touch = {
	.name = "touch",
	.help = "map fresh memory, touch every page, unmap: page faults",
	.run = touch_run,
};
