// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>

#include "primitives.h"
#include "workers.h"

static _Noreturn int hog_work(const struct load_config *config, unsigned int index, const void *arg)
{
	(void)index;
	(void)arg;
	for (;;) {
		load__spin(10 * NSEC_PER_MSEC);
		workers__pause(config);
	}
}

static int hog_run(const struct load_config *config)
{
	return workers__run(config->tasks ? config->tasks : 2 * load__cpus(), hog_work, config,
			    NULL);
}

const struct load_ops load_hog = {
	.name = "hog",
	.help = "endless loops in twice as many tasks as CPUs: run-queue waits",
	.run = hog_run,
};
