// SPDX-License-Identifier: BSD-2-Clause
#include "probe_view.h"

#define PROBE(name) extern const struct probe_view name##_view __attribute__((weak));
#include <probes.h>
#undef PROBE

const struct probe_view *probe_view__nth(unsigned int nth)
{
#define PROBE(name) &name##_view,
	static const struct probe_view *const of_probes[] = {
#include <probes.h>
		NULL
	};
#undef PROBE

	for (size_t i = 0; i < sizeof(of_probes) / sizeof(of_probes[0]); i++)
		if (of_probes[i] && !nth--)
			return of_probes[i];
	return NULL;
}

const struct probe_view *probe_view__of(const struct run_probe *probe)
{
	const struct probe_view *view;

	for (unsigned int i = 0; (view = probe_view__nth(i)); i++)
		if (view->knows && view->knows(probe))
			return view;
	return NULL;
}

int probe_view__print_answer(FILE *out, const struct run *run)
{
	const struct probe_view *view;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		view = run->probes[i].refused[0] ? NULL : probe_view__of(&run->probes[i]);
		if (view && view->print_answer)
			return view->print_answer(out, run, &run->probes[i]) ?: 1;
	}
	return 0;
}

const struct run_probe *probe_view__of_bars(const struct run *run)
{
	const struct probe_view *view;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		view = run->probes[i].refused[0] ? NULL : probe_view__of(&run->probes[i]);
		if (view && view->bars)
			return &run->probes[i];
	}
	return NULL;
}
