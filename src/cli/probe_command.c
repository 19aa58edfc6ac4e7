// SPDX-License-Identifier: BSD-2-Clause
#include "probe_command.h"

#define PROBE(name) extern const struct probe_command name##_command __attribute__((weak));
#include <probes.h>
#undef PROBE

#define PROBE(name) &name##_command,
static const struct probe_command *const commands[] = {
#include <probes.h>
	NULL
};
#undef PROBE

const struct probe_command *probe_command__of(const struct probe_ops *ops)
{
	static const struct probe_command none;

	for (size_t i = 0; ops && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i] && commands[i]->ops == ops)
			return commands[i];
	return &none;
}
