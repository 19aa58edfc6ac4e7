// SPDX-License-Identifier: BSD-2-Clause
#include "ringlat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <core/clock.h>

#define POLL_NS 10000000ULL /* of crossings, before the session may look for signals */

struct ringlat {
	struct probe common; /* first */
	struct ringlat_config config;
	uint64_t tail_ns;
	struct ring *ring;
};

static struct ringlat *of(struct probe *probe)
{
	return (struct ringlat *)probe;
}

static int open_ringlat(struct probe **out, const struct probe_ops *ops,
			const struct probe_request *request, char why[RUN_TEXT])
{
	struct ringlat *ringlat = calloc(1, sizeof(*ringlat));
	int err;

	if (!ringlat)
		return -ENOMEM;
	ringlat->common.ops = ops;
	ringlat->common.times_calls = true;
	ringlat->config = *(const struct ringlat_config *)request->own;
	ringlat->tail_ns = request->config->tail_ns;
	err = ring__open(&ringlat->ring, ringlat->config.method, ringlat->config.like_xperf,
			 ringlat->config.refused, why);
	if (err) {
		free(ringlat);
		return err;
	}
	ringlat->common.capability = ringlat->ring->method->capability;
	*out = &ringlat->common;
	return 0;
}

/* Messages come only after the window: see stop(). */
static int describe(struct probe *probe)
{
	snprintf(probe->entry->method, RUN_NAME, "%s", of(probe)->ring->method->name);
	return 0;
}

static int start(struct probe *probe, uint64_t at_ns)
{
	struct ringlat *ringlat = of(probe);

	(void)at_ns;
	ring__begin(ringlat->ring, ringlat->config.crossings, ringlat->config.result);
	if (ringlat->config.raw)
		ring__keep_raw(ringlat->ring, ringlat->config.raw);
	return 0;
}

static int poll_ringlat(struct probe *probe, uint64_t at_ns)
{
	uint64_t until = clock__now_ns() + POLL_NS;
	int got;

	(void)at_ns;
	do
		got = ring__next(of(probe)->ring, probe->why);
	while (got > 0 && clock__now_ns() < until);
	probe->done = got <= 0;
	return got < 0 ? got : 0;
}

static int stop(struct probe *probe, uint64_t at_ns)
{
	struct ringlat *ringlat = of(probe);
	int err = ring__end(ringlat->ring, probe->why);

	(void)at_ns;
	if (!err)
		ring_result__to_probe(ringlat->config.result, ringlat->tail_ns, probe->entry);
	return err;
}

static int close_ringlat(struct probe *probe, char why[RUN_TEXT])
{
	(void)why;
	ring__close(of(probe)->ring);
	free(probe);
	return 0;
}

const struct probe_ops ringlat_probe = {
	.tail_ns = PROBE_TAIL_NS,
	.name = "ringlat",
	.help = "user/kernel crossings: cost of entering and leaving the kernel",
	.what = "crossing from user to kernel mode and back",
	.open = open_ringlat,
	.describe = describe,
	.steps = { [PROBE_START] = start, [PROBE_POLL] = poll_ringlat, [PROBE_STOP] = stop },
	.close = close_ringlat,
};
