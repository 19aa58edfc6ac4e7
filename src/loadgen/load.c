// SPDX-License-Identifier: BSD-2-Clause
/* The kinds of load; those that need files have files of their own. */
#include "load.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "primitives.h"
#include "workers.h"

#define TOUCH_TASKS 8 /* at most, by default */
#define TOUCH_BYTES (16UL << 20) /* in a round, but no more than its share of ... */
#define TOUCH_ALL_BYTES (128UL << 20)
#define HOG_NS (10 * NSEC_PER_MSEC) /* of a round */
#define ROUND_TRIPS 256 /* of pingpong, in a round */
#define MIXED_PAUSE_NS (5 * NSEC_PER_MSEC)

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
		tasks = cpus < TOUCH_TASKS ? cpus : TOUCH_TASKS;
	bytes = TOUCH_ALL_BYTES / tasks < TOUCH_BYTES ? TOUCH_ALL_BYTES / tasks : TOUCH_BYTES;
	if (config->bytes)
		bytes = config->bytes / tasks > load__page() ? config->bytes / tasks : load__page();
	return workers__run(tasks, touch_work, config, &bytes);
}

static const struct load_ops load_touch = {
	.name = "touch",
	.help = "map memory, write to each page, unmap: page faults",
	.uses_bytes = true,
	.run = touch_run,
};

static _Noreturn int hog_work(const struct load_config *config, unsigned int index, const void *arg)
{
	(void)index;
	(void)arg;
	for (;;) {
		load__spin(HOG_NS);
		workers__pause(config);
	}
}

static int hog_run(const struct load_config *config)
{
	return workers__run(config->tasks ? config->tasks : 2 * load__cpus(), hog_work, config,
			    NULL);
}

static const struct load_ops load_hog = {
	.name = "hog",
	.help = "endless loops in twice as many tasks as CPUs: run-queue waits",
	.run = hog_run,
};

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

	while (!err && nr < wanted && nr < LOAD_MAX_TASKS / 2) {
		err = pingpong__open(&pairs[nr]);
		nr += !err;
	}
	if (!err)
		err = workers__run(2 * nr, pingpong_work, config, pairs);
	while (nr--)
		pingpong__close(&pairs[nr]);
	return err;
}

static const struct load_ops load_pingpong = {
	.name = "pingpong",
	.help = "two tasks on one CPU wake each other: short waits",
	.run = pingpong_run,
};

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
		part.pause_ns = MIXED_PAUSE_NS;
	return workers__run(NR_PARTS, mixed_work, &part, NULL);
}

static const struct load_ops load_mixed = {
	.name = "mixed",
	.help = "all of these at once, with pauses of 5 ms",
	.uses_dir = true,
	.run = mixed_run,
};

const struct load_ops load_fleet = {
	.name = "fleet",
	.help = "rows of many hosts, as serve --clickhouse sends them",
};

const struct load_ops *const load_kinds[] = {
	&load_touch,	&load_hog,   &load_pingpong, &load_dio,
	&load_pressure, &load_mixed, &load_fleet,    NULL,
};

const struct load_ops *load__find(const char *name)
{
	const struct load_ops *const *kind = load_kinds;

	while (*kind && strcmp((*kind)->name, name))
		kind++;
	return *kind;
}
