// SPDX-License-Identifier: BSD-2-Clause
/* ringlat on other architectures: replaces the methods and measure.c, which are for x86. */
#include <errno.h>

#include <host/host.h>

#include "ring.h"

static int refuse(struct ring *ring, char why[RUN_TEXT])
{
	(void)ring;
	return ring__fail(why, -EOPNOTSUPP, "%s", host__not_x86());
}

static const struct ring_method none = { .name = "none", .open = refuse };
const struct ring_method ring_module = { .name = "module", .like_xperf = &none, .open = refuse };
const struct ring_method ring_kvm = { .name = "kvm", .like_xperf = &none, .open = refuse };
const struct ring_method ring_user = { .name = "user", .like_xperf = &none, .open = refuse };

void ring__begin(struct ring *ring, uint64_t crossings, struct ring_result *result)
{
	(void)ring, (void)crossings, (void)result;
}

void ring__keep_raw(struct ring *ring, FILE *raw)
{
	(void)ring, (void)raw;
}

int ring__next(struct ring *ring, char why[RUN_TEXT])
{
	return refuse(ring, why);
}

int ring__end(struct ring *ring, char why[RUN_TEXT])
{
	return refuse(ring, why);
}
