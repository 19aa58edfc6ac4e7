// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "primitives.h"
#include "workers.h"

#define MAX_DEFAULT_TASKS 8
#define ROUND_BYTES (16UL << 20)
#define TOTAL_BYTES (128UL << 20) /* of all tasks */

static int touch_work(const struct load_config *config, unsigned int index, const void *arg)
{
	size_t bytes = *(const size_t *)arg, pages = (bytes + load__page() - 1) / load__page();
	char *map;

	(void)index;
	for (;;) {
		map = load__map(pages);
		if (!map)
			return -errno;
		load__touch(map, pages, false);
		munmap(map, bytes);
		workers__pause(config);
	}
}

static int touch_run(const struct load_config *config)
{
	unsigned int cpus = load__cpus(), tasks = config->tasks;
	size_t bytes;

	if (!tasks)
		tasks = cpus < MAX_DEFAULT_TASKS ? cpus : MAX_DEFAULT_TASKS;
	bytes = TOTAL_BYTES / tasks < ROUND_BYTES ? TOTAL_BYTES / tasks : ROUND_BYTES;
	if (config->bytes)
		bytes = config->bytes / tasks > load__page() ? config->bytes / tasks : load__page();
	return workers__run(tasks, touch_work, config, &bytes);
}

const struct load_ops load_touch = {
	.name = "touch",
	.help = "map memory, write to each page, unmap: page faults",
	.uses_bytes = true,
	.run = touch_run,
};
