// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>

#include "kinds.h"
#include "workers.h"

#define ROUND_NS 10000000

static _Noreturn int hog_work(const struct load_config *config, unsigned int index, const void *arg)
{
	uint64_t start;

	(void)index;
	(void)arg;
	for (;;) {
		start = workers__now();
		while (workers__now() - start < ROUND_NS)
			;
		workers__pause(config);
	}
}

static int hog_run(const struct load_config *config)
{
	return workers__run(config->tasks ? config->tasks : 2 * workers__cpus(), hog_work, config,
			    NULL);
}

const struct load_ops load_hog = {
	.name = "hog",
	.help = "run without end, twice as many tasks as CPUs: waits for a CPU",
	.run = hog_run,
};
