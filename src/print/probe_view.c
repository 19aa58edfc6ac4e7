// SPDX-License-Identifier: BSD-2-Clause
#include "probe_view.h"

#define PROBE(name) extern const struct probe_view name##_view __attribute__((weak));
#include <probes.h>
#undef PROBE

unsigned int probe_view__list(const struct probe_view *views[RUN_PROBES])
{
#define PROBE(name) &name##_view,
	static const struct probe_view *const of_probes[] = {
#include <probes.h>
		NULL
	};
#undef PROBE
	unsigned int nr = 0;

	for (size_t i = 0; i < sizeof(of_probes) / sizeof(of_probes[0]); i++)
		if (of_probes[i])
			views[nr++] = of_probes[i];
	return nr;
}

const struct probe_view *probe_view__of(const struct run_probe *probe)
{
	const struct probe_view *views[RUN_PROBES];
	unsigned int nr = probe_view__list(views);

	for (unsigned int i = 0; i < nr; i++)
		if (views[i]->knows(probe))
			return views[i];
	return NULL;
}
