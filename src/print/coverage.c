// SPDX-License-Identifier: BSD-2-Clause
#include "text.h"

#include <core/coverage.h>
#include <core/units.h>

#include "wrap.h"

/* Those of a cgroup that are told before all probes. */
static const struct {
	enum pressure_column column;
	const char *before, *after;
	bool is_time;
} told[] = {
	{ PRESSURE_MEMORY_SOME, "memory stall ", "", true },
	{ PRESSURE_IO_SOME, "I/O stall ", "", true },
	{ PRESSURE_CPU_SOME, "CPU stall ", "", true },
	{ PRESSURE_THROTTLED, "CPU limit ", " (of all its CPUs)", true },
	{ PRESSURE_MEMORY_HIGH, "memory.high struck ", " times", false },
	{ PRESSURE_MEMORY_MAX, "memory.max ", " times", false },
	{ PRESSURE_OOM_KILLS, "OOM kills ", "", false },
};

static void add_told(struct wrap *wrap, const struct run *run)
{
	const char *between = "";
	char text[UNITS_TEXT];
	uint64_t gained;

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		if (!pressure__gained(run->pressure.table, told[i].column, &gained))
			continue;
		if (!gained && told[i].column != PRESSURE_MEMORY_SOME)
			continue;
		wrap__add(wrap, "%s%s%s%s", between, told[i].before,
			  told[i].is_time ? units__ns(text, (double)gained)
					  : units__count(text, gained),
			  told[i].after);
		between = "; ";
	}
	if (run->pressure.why[0])
		wrap__add(wrap, "%sunknown: %s", between, run->pressure.why);
}

void coverage_text__cgroup(FILE *out, const struct run *run)
{
	struct wrap wrap = { 0 };

	if (!run->pressure.cgroup || !run->pressure.table)
		return;
	wrap__add(&wrap, "cgroup %s, by the kernel (PSI: time in which a task stalled): ",
		  run->pressure.cgroup);
	add_told(&wrap, run);
	wrap__print(&wrap, out, 0, 2);
}

static void add_explained(struct wrap *wrap, const struct coverage *coverage)
{
	char text[UNITS_TEXT], share[UNITS_TEXT];

	if (coverage->samples_ns == UINT64_MAX)
		wrap__add(wrap, "; how much of it are %s is unknown", coverage->words->waits);
	else if (coverage->most_ns < coverage->stall_ns)
		wrap__add(wrap, "; explained at most %s (%s: %s)",
			  units__share(share, coverage->most_ns, coverage->stall_ns),
			  coverage->words->waits, units__ns(text, (double)coverage->most_ns));
	else
		wrap__add(wrap, "; %s can be all of it: %s together", coverage->words->waits,
			  units__ns(text, (double)coverage->samples_ns));
	if (coverage->lost)
		wrap__add(wrap, "; %s were not measured", units__count(text, coverage->lost));
}

void coverage_text__probe(FILE *out, const struct run *run, const struct run_probe *probe)
{
	struct coverage coverage;
	struct wrap wrap = { 0 };
	char text[UNITS_TEXT];
	uint64_t high;

	if (!coverage__of(&coverage, run, probe) || !coverage.stall_ns)
		return;
	wrap__add(&wrap, "%s stall of the cgroup %s (PSI)", coverage.words->resource,
		  units__ns(text, (double)coverage.stall_ns));
	add_explained(&wrap, &coverage);
	if (coverage.words->stall == PRESSURE_MEMORY_SOME &&
	    pressure__gained(run->pressure.table, PRESSURE_MEMORY_HIGH, &high) && high)
		wrap__add(&wrap, "; memory.high struck %s times", units__count(text, high));
	if (coverage__is_low(&coverage) && coverage.words->rest)
		wrap__add(&wrap, ". The rest is %s", coverage.words->rest);
	wrap__print(&wrap, out, 2, 2);
}
