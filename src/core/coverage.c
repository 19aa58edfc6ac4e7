// SPDX-License-Identifier: BSD-2-Clause
#include "coverage.h"

#include <string.h>

#define MOMENT_NS 10000000 /* a shorter stall is not worth a remark */

/* Do the probe's samples have those of all tasks of the cgroup? The text begins with tasks. */
static bool is_whole(const struct run *run, const struct run_probe *probe)
{
	if (!run->pressure.cgroup || !run->filter || strncmp(run->filter, "cgroup ", 7))
		return false;
	return !why__words(probe->name)->requests || !strstr(run->filter, ", disk ");
}

/* UINT64_MAX: it is not known. Sets `lost`, too. */
static uint64_t samples_ns(struct coverage *coverage, const struct run *run,
			   const struct run_probe *probe)
{
	unsigned int metric = why__words(probe->name)->metric;
	const struct lat_in_flight *open = &probe->in_flight;
	uint64_t ns = probe->total.metrics[metric].hist.sum_ns, lost_ns;

	if (run->span_to_ns || !run->complete)
		return UINT64_MAX;
	if (open->count && !probe->in_flight_age_known)
		return UINT64_MAX;
	if (!run__lost_ns(probe, metric, &lost_ns))
		coverage->lost = run__lost(probe, metric);
	return ns + open->sum_ns + lost_ns;
}

bool coverage__of(struct coverage *coverage, const struct run *run, const struct run_probe *probe)
{
	const struct why_words *words = why__words(probe->name);

	if (probe->refused[0] || !words->resource || !is_whole(run, probe))
		return false;
	*coverage = (struct coverage){ .words = words };
	if (!pressure__gained(run->pressure.table, words->stall, &coverage->stall_ns))
		return false;
	coverage->samples_ns = samples_ns(coverage, run, probe);
	coverage->most_ns = coverage->samples_ns < coverage->stall_ns ? coverage->samples_ns
								      : coverage->stall_ns;
	return true;
}

bool coverage__is_low(const struct coverage *coverage)
{
	return coverage->stall_ns >= MOMENT_NS && coverage->most_ns < coverage->stall_ns / 2;
}
