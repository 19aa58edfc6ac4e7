// SPDX-License-Identifier: BSD-2-Clause
#include "why_traits.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sanitize.h"

/* include/uapi/linux/sched.h */
static const struct policy {
	const char *name; /* NULL: the usual one, or there is none */
	bool is_realtime; /* it has a priority */
	bool has_weight; /* by its nice value and its cgroup */
} policies[] = {
	{ NULL, false, true },
	{ "SCHED_FIFO", true, false },
	{ "SCHED_RR", true, false },
	{ "SCHED_BATCH", false, true },
	{ NULL, false, false },
	{ "SCHED_IDLE", false, false },
	{ "SCHED_DEADLINE", false, false },
	{ "SCHED_EXT", false, true },
};

/* As cpu.weight shows it; 0: cpu.idle is 1. */
static unsigned int cpu_weight(uint32_t weight)
{
	return (unsigned int)(((uint64_t)weight * 100 + WHY_WEIGHT_DEFAULT / 2) /
			      WHY_WEIGHT_DEFAULT);
}

static void add(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *out, const char *format, ...)
{
	size_t len = strlen(out);
	va_list args;

	if (len && len + 2 < WHY_TRAITS_TEXT)
		len = (size_t)(stpcpy(out + len, ", ") - out);
	va_start(args, format);
	vsnprintf(out + len, WHY_TRAITS_TEXT - len, format, args);
	va_end(args);
}

const char *why_traits__text(const struct why_traits *traits, char out[WHY_TRAITS_TEXT])
{
	uint32_t policy = WHY_POLICY(traits->scheduling), weight = WHY_WEIGHT(traits->scheduling);
	char raw[WHY_WORKQUEUE + 1] = "", name[WHY_WORKQUEUE + 1];
	struct policy of = { 0 };

	out[0] = '\0';
	memcpy(raw, traits->workqueue, WHY_WORKQUEUE);
	if (policy < sizeof(policies) / sizeof(policies[0]))
		of = policies[policy];
	if (of.name && of.is_realtime)
		add(out, "%s %u", of.name, WHY_PRIORITY(traits->scheduling));
	else if (of.name)
		add(out, "%s", of.name);
	if (of.has_weight && WHY_NICE(traits->scheduling))
		add(out, "nice %d", WHY_NICE(traits->scheduling));
	if (of.has_weight && weight && !cpu_weight(weight))
		add(out, "cpu.idle 1");
	else if (of.has_weight && weight && cpu_weight(weight) != 100)
		add(out, "cpu.weight %u", cpu_weight(weight));
	if (raw[0])
		add(out, "workqueue %s", sanitize__text(name, sizeof(name), raw));
	return out[0] ? out : NULL;
}
