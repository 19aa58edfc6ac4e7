// SPDX-License-Identifier: BSD-2-Clause
#include "version.h"

#include <host/host.h>

#include "probe_command.h"

/* Its methods in the order in which they are tried; NULL: no more. */
static const char *method_of(const struct probe_ops *ops, unsigned int nth)
{
	const struct probe_command *command = probe_command__of(ops);
	const char *about;

	if (nth < ops->nr_methods)
		return probe__nth_method(ops, nth)->x86 && host__not_x86()
			       ? ""
			       : probe__nth_method(ops, nth)->name;
	return !ops->nr_methods && command->method && !host__not_x86()
		       ? command->method(nth, &about)
		       : NULL;
}

static void print_probe(FILE *out, const struct probe_ops *ops)
{
	const char *separator = "", *method;

	if (!method_of(ops, 0))
		return;
	fprintf(out, "  %-8s ", ops->name);
	for (unsigned int nth = 0; (method = method_of(ops, nth)); nth++) {
		if (!method[0])
			continue;
		fprintf(out, "%s%s", separator, method);
		separator = ", ";
	}
	fputc('\n', out);
}

void version__print(FILE *out)
{
	fprintf(out, "latscope %s\ncommit: %s\nmethods:\n", LATSCOPE_VERSION,
		LATSCOPE_COMMIT[0] ? LATSCOPE_COMMIT : "unknown");
	for (size_t i = 0; probe_list[i]; i++)
		print_probe(out, probe_list[i]);
}
