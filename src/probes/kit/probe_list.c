// SPDX-License-Identifier: BSD-2-Clause
/* All probes. Apart from probe.c, which the probes call. */
#include "probe.h"

#include <stddef.h>
#include <string.h>

#define PROBE(name) extern const struct probe_ops name##_probe;
#include <probes.h>
#undef PROBE

#define PROBE(name) &name##_probe,
const struct probe_ops *const probe_list[] = {
#include <probes.h>
	NULL
};
#undef PROBE
_Static_assert(sizeof(probe_list) / sizeof(probe_list[0]) <= RUN_PROBES + 1, "a run has room");

const struct probe_ops *probe__find(const char *name)
{
	for (size_t i = 0; probe_list[i]; i++)
		if (!strcmp(probe_list[i]->name, name))
			return probe_list[i];
	return NULL;
}
