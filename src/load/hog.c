// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>

#include "crew.h"
#include "kinds.h"

#define ROUND_NS 10000000

static _Noreturn int hog_work(const struct load_config *config, unsigned int index, const void *arg)
{
	uint64_t start;

	(void)index;
	(void)arg;
	for (;;) {
		start = crew__now();
		while (crew__now() - start < ROUND_NS)
			;
		crew__pause(config);
	}
}

static int hog_run(const struct load_config *config)
{
	return crew__run(config->tasks ? config->tasks : 2 * crew__cpus(), hog_work, config, NULL);
}

const struct load_ops load_hog = {
	.name = "hog",
	.help = "run without end, twice as many tasks as CPUs: waits for a CPU",
	.run = hog_run,
};
