// SPDX-License-Identifier: BSD-2-Clause
#include "version.h"

#include <core/host.h>
#include <probes/kit/probe.h>
#include <probes/ringlat/ring.h>

static void print_probe(FILE *out, const struct probe_ops *ops)
{
	const char *separator = "";

	fprintf(out, "  %-8s ", ops->name);
	for (unsigned int i = 0; i < ops->nr_methods; i++) {
		const struct probe_method *method = probe__nth_method(ops, i);

		if (method->x86 && host__not_x86())
			continue;
		fprintf(out, "%s%s", separator, method->name);
		separator = ", ";
	}
	fputc('\n', out);
}

static void print_ring(FILE *out)
{
	if (host__not_x86())
		return;
	fputs("  ringlat  ", out);
	for (size_t i = 0; ring_methods[i]; i++)
		fprintf(out, "%s%s", i ? ", " : "", ring_methods[i]->name);
	fputs("\n  tierlat  perf, msr\n", out);
}

void version__print(FILE *out)
{
	fprintf(out, "latscope %s\ncommit: %s\nmethods:\n", LATSCOPE_VERSION,
		LATSCOPE_COMMIT[0] ? LATSCOPE_COMMIT : "unknown");
	for (size_t i = 0; probe_list[i]; i++)
		if (probe_list[i]->nr_methods)
			print_probe(out, probe_list[i]);
	print_ring(out);
}
