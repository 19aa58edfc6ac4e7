// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sched.h"

static void *answer(void *arg)
{
	const struct pingpong *pair = &((const struct reference_pingpong *)arg)->pair;

	while (!pingpong__receive(pair, false) && !pingpong__send(pair, false))
		;
	return NULL;
}

/* The thread inherits the CPU. */
int reference_pingpong__prepare(struct reference_pingpong *pingpong)
{
	int err = load__pin(pingpong->cpu);

	if (err)
		return reference__fail(pingpong->why, err, "cannot run on CPU %d: %s",
				       pingpong->cpu, strerror(-err));
	err = pingpong__open(&pingpong->pair);
	if (err)
		return reference__fail(pingpong->why, err, "cannot create a pipe: %s",
				       strerror(-err));
	err = load__thread(&pingpong->thread, answer, pingpong);
	return err ? reference__fail(pingpong->why, err, "cannot create a thread") : 0;
}

int reference_pingpong__run(struct reference_pingpong *pingpong)
{
	uint64_t start = clock__now_ns();

	for (unsigned int i = 0; i < pingpong->count; i++)
		if (pingpong__send(&pingpong->pair, true) ||
		    pingpong__receive(&pingpong->pair, true))
			return reference__fail(pingpong->why, -EIO, "the other thread has ended");
	pingpong->elapsed_ns = clock__now_ns() - start;
	close(pingpong->pair.ping[1]);
	pthread_join(pingpong->thread, NULL);
	return 0;
}
