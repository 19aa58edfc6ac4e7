// SPDX-License-Identifier: BSD-2-Clause
/* ringlat on other architectures: replaces the methods and measure.c, which are for x86. */
#include "methods.h"

#include <errno.h>

#include <core/arch.h>

static int unsupported(char why[RUN_TEXT])
{
	return ring__fail(why, -EOPNOTSUPP, "%s", arch__not_x86());
}

static int refuse(struct ring *ring, char why[RUN_TEXT])
{
	(void)ring;
	return unsupported(why);
}

const struct ring_method ring_module = { .name = "module", .open = refuse };
const struct ring_method ring_kvm = { .name = "kvm", .open = refuse };
const struct ring_method ring_user = { .name = "user", .open = refuse };

int ring__measure(struct ring *ring, uint64_t crossings,
		  bool (*go_on)(const struct ring_count *count, uint64_t crossings),
		  struct ring_result *result, char why[RUN_TEXT])
{
	(void)ring, (void)crossings, (void)go_on, (void)result;
	return unsupported(why);
}
