// SPDX-License-Identifier: BSD-2-Clause
#include "ring.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ring_method *const ring_methods[] = { &ring_module, &ring_kvm, &ring_user, NULL };

const struct ring_method *ring__find(const char *name)
{
	for (size_t i = 0; ring_methods[i]; i++) {
		if (!strcmp(ring_methods[i]->name, name))
			return ring_methods[i];
	}
	return NULL;
}

int ring__fail(char why[RUN_TEXT], int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, RUN_TEXT, format, args);
	va_end(args);
	return err;
}

struct opened {
	struct ring ring;
	cpu_set_t cpus; /* CPUs of the thread before */
};

static int bind_to_cpu(struct opened *opened, char why[RUN_TEXT])
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_getaffinity(0, sizeof(opened->cpus), &opened->cpus) ||
	    sched_setaffinity(0, sizeof(one), &one))
		return ring__fail(why, -errno, "cannot stay on CPU %d: %s", cpu, strerror(errno));
	opened->ring.cpu = cpu;
	return 0;
}

int ring__open(struct ring **ring, const struct ring_method *only, bool like_xperf,
	       void (*refused)(const struct ring_method *method, const char *why),
	       char why[RUN_TEXT])
{
	struct opened *opened = calloc(1, sizeof(*opened));
	int err;

	if (!opened)
		return ring__fail(why, -ENOMEM, "out of memory");
	err = bind_to_cpu(opened, why);
	if (err)
		goto free_opened;
	err = -EOPNOTSUPP;
	for (size_t i = 0; err && ring_methods[i]; i++) {
		if (only && ring_methods[i] != only)
			continue;
		opened->ring.method = like_xperf ? ring_methods[i]->like_xperf : ring_methods[i];
		err = opened->ring.method->open(&opened->ring, why);
		if (err && refused)
			refused(ring_methods[i], why);
	}
	if (err)
		goto unbind;
	*ring = &opened->ring;
	return 0;

unbind:
	sched_setaffinity(0, sizeof(opened->cpus), &opened->cpus);
free_opened:
	free(opened);
	return err;
}

void ring__close(struct ring *ring)
{
	struct opened *opened = (struct opened *)ring;

	if (!ring)
		return;
	ring->method->close(ring);
	sched_setaffinity(0, sizeof(opened->cpus), &opened->cpus);
	free(opened);
}
