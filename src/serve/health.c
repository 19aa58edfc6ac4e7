// SPDX-License-Identifier: BSD-2-Clause
#include "health.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/sysinfo.h>

/* While the cells are read, one event on each CPU can be between two of its counts. */
static bool adds_up(const struct run_probe *probe, char text[RUN_TEXT])
{
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		int64_t off = run__imbalance(&probe->total.metrics[i]);
		uint64_t events = (uint64_t)(off < 0 ? -off : off);

		if (events <= (uint64_t)get_nprocs_conf())
			continue;
		snprintf(text, RUN_TEXT, "%s %s: %" PRIu64 " events are %s", probe->name,
			 probe->metrics[i].name, events,
			 off > 0 ? "not accounted for" : "counted twice");
		return false;
	}
	return true;
}

bool health__is_good(const struct run *run, char text[RUN_TEXT])
{
	unsigned int measuring = 0;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		if (probe->refused[0])
			continue;
		if (!adds_up(probe, text))
			return false;
		measuring++;
	}
	snprintf(text, RUN_TEXT, "%s", measuring ? "ok" : "no probe measures");
	return measuring;
}
