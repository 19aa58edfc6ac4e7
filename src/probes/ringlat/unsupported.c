// SPDX-License-Identifier: BSD-2-Clause
/* ringlat on other architectures: replaces the methods and measure.c, which are for x86. */
#include "ring.h"

#include <errno.h>

#include <core/host.h>

static int refuse(struct ring *ring, char why[RUN_TEXT])
{
	(void)ring;
	return ring__fail(why, -EOPNOTSUPP, "%s", host__not_x86());
}

const struct ring_method ring_module = { .name = "module", .open = refuse };
const struct ring_method ring_kvm = { .name = "kvm", .open = refuse };
const struct ring_method ring_user = { .name = "user", .open = refuse };

void ring__begin(struct ring *ring, uint64_t crossings, struct ring_result *result)
{
	(void)ring, (void)crossings, (void)result;
}

int ring__next(struct ring *ring, char why[RUN_TEXT])
{
	return refuse(ring, why);
}

int ring__end(struct ring *ring, char why[RUN_TEXT])
{
	return refuse(ring, why);
}
