// SPDX-License-Identifier: BSD-2-Clause
#include "primitives.h"
#include "workers.h"

#define ROUND_TRIPS 256

/* The tasks 2n and 2n+1 are a pair. */
static int pingpong_work(const struct load_config *config, unsigned int index, const void *arg)
{
	const struct pingpong *pair = (const struct pingpong *)arg + index / 2;
	/* Uses the last CPUs: the first ones have the most other work. */
	int cpu = load__cpu_from_end(index / 2), err = cpu < 0 ? cpu : load__pin(cpu);
	bool first = index % 2 == 0;

	if (!err && first)
		err = pingpong__send(pair, true);
	for (unsigned int trips = 1; !err; trips++) {
		err = pingpong__receive(pair, first);
		if (!err)
			err = pingpong__send(pair, first);
		if (first && trips % ROUND_TRIPS == 0)
			workers__pause(config);
	}
	return err;
}

static int pingpong_run(const struct load_config *config)
{
	unsigned int wanted = config->tasks > 2 ? config->tasks / 2 : 1, nr = 0;
	struct pingpong pairs[LOAD_MAX_TASKS / 2] = { 0 };
	int err = 0;

	while (nr < wanted && nr < LOAD_MAX_TASKS / 2) {
		err = pingpong__open(&pairs[nr]);
		if (err)
			goto close_opened;
		nr++;
	}
	err = workers__run(2 * nr, pingpong_work, config, pairs);

close_opened:
	while (nr--)
		pingpong__close(&pairs[nr]);
	return err;
}

const struct load_ops load_pingpong = {
	.name = "pingpong",
	.help = "two tasks on one CPU wake each other: short waits",
	.run = pingpong_run,
};
