// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>

#include "workers.h"

#define PAUSE_NS 5000000

static const struct load_ops *const parts[] = { &load_touch, &load_hog, &load_pingpong, &load_dio };

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* A process for each kind; it starts and ends the workers of that kind. */
static int mixed_work(const struct load_config *config, unsigned int index, const void *arg)
{
	(void)arg;
	return parts[index]->run(config);
}

static int mixed_run(const struct load_config *config)
{
	struct load_config part = *config;

	if (!part.pause_ns)
		part.pause_ns = PAUSE_NS;
	return workers__run(NR_PARTS, mixed_work, &part, NULL);
}

const struct load_ops load_mixed = {
	.name = "mixed",
	.help = "all of these at once, with pauses of 5 ms",
	.uses_dir = true,
	.run = mixed_run,
};
