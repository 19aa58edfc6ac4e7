// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "kinds.h"
#include "workers.h"

#define ROUND_TRIPS 256

/* The tasks 2n and 2n+1 are a pair, with two pipes of their own. */
struct pair {
	int ping[2];
	int pong[2];
};

/* The nth last of the CPUs that may be used: the first ones have the most to do elsewhere. */
static int pin(unsigned int nth)
{
	cpu_set_t all, one;
	int cpu = CPU_SETSIZE;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -errno;
	nth %= CPU_COUNT(&all);
	do {
		cpu--;
		if (CPU_ISSET(cpu, &all) && !nth--)
			break;
	} while (cpu);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

static int pass(int from, int to)
{
	char ball;

	if (read(from, &ball, 1) < 0 || write(to, &ball, 1) < 0)
		return -errno;
	return 0;
}

static int pingpong_work(const struct load_config *config, unsigned int index, const void *arg)
{
	const struct pair *pair = (const struct pair *)arg + index / 2;
	int from = index % 2 ? pair->ping[0] : pair->pong[0];
	int to = index % 2 ? pair->pong[1] : pair->ping[1];
	int err = pin(index / 2);

	if (!err && index % 2 == 0 && write(to, "", 1) < 0) /* the first throw */
		err = -errno;
	for (unsigned int trips = 1; !err; trips++) {
		err = pass(from, to);
		if (index % 2 == 0 && trips % ROUND_TRIPS == 0)
			workers__pause(config);
	}
	return err;
}

static void close_pairs(struct pair *pairs, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		close(pairs[i].ping[0]);
		close(pairs[i].ping[1]);
		close(pairs[i].pong[0]);
		close(pairs[i].pong[1]);
	}
}

static int open_pair(struct pair *pair)
{
	int err;

	if (pipe(pair->ping))
		return -errno;
	if (pipe(pair->pong)) {
		err = -errno;
		goto close_ping;
	}
	return 0;

close_ping:
	close(pair->ping[0]);
	close(pair->ping[1]);
	return err;
}

static int pingpong_run(const struct load_config *config)
{
	unsigned int wanted = config->tasks > 2 ? config->tasks / 2 : 1, nr;
	struct pair pairs[LOAD_MAX_TASKS / 2] = { 0 };
	int err = 0;

	for (nr = 0; nr < wanted && nr < LOAD_MAX_TASKS / 2; nr++) {
		err = open_pair(&pairs[nr]);
		if (err)
			goto close_opened;
	}
	err = workers__run(2 * nr, pingpong_work, config, pairs);

close_opened:
	close_pairs(pairs, nr);
	return err;
}

const struct load_ops load_pingpong = {
	.name = "pingpong",
	.help = "two tasks on one CPU wake each other by pipes: short waits",
	.run = pingpong_run,
};
