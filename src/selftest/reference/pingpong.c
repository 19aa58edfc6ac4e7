// SPDX-License-Identifier: BSD-2-Clause
#include "pingpong.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static bool pass(int from, int to)
{
	char ball;

	return read(from, &ball, 1) == 1 && write(to, &ball, 1) == 1;
}

static void *answer(void *arg)
{
	const struct reference_pingpong *turns = arg;

	while (pass(turns->ping[0], turns->pong[1]))
		;
	return NULL;
}

/* The thread inherits the CPU. */
int reference_pingpong__prepare(struct reference_pingpong *turns)
{
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(turns->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return reference__fail(turns->why, -errno, "cannot run on CPU %d: %s", turns->cpu,
				       strerror(errno));
	if (pipe2(turns->ping, O_CLOEXEC) || pipe2(turns->pong, O_CLOEXEC))
		return reference__fail(turns->why, -errno, "cannot make a pipe: %s",
				       strerror(errno));
	err = reference__thread(&turns->thread, answer, turns);
	return err ? reference__fail(turns->why, err, "cannot make a thread") : 0;
}

int reference_pingpong__run(struct reference_pingpong *turns)
{
	uint64_t start = reference__now();
	char ball = 0;

	for (unsigned int i = 0; i < turns->count; i++)
		if (write(turns->ping[1], &ball, 1) != 1 || read(turns->pong[0], &ball, 1) != 1)
			return reference__fail(turns->why, -EIO, "the other thread is gone");
	turns->elapsed_ns = reference__now() - start;
	close(turns->ping[1]);
	pthread_join(turns->thread, NULL);
	return 0;
}
