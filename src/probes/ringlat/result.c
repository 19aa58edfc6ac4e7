// SPDX-License-Identifier: BSD-2-Clause
#include "ring.h"

#include <stdio.h>
#include <string.h>

_Static_assert(RING_EVENTS *RING_WAYS <= RUN_METRICS, "each way of each event is a metric");

const char *ring_verdict__name(enum ring_verdict verdict)
{
	static const char *const names[RING_VERDICTS] = {
		[RING_KEPT] = "kept",
		[RING_SWITCHED] = "switched",
		[RING_INTERRUPTED] = "interrupted",
		[RING_STRAY_FAULTS] = "stray_faults",
		[RING_VM_EXITS] = "vm_exits",
		[RING_NOT_HOOKED] = "not_hooked",
		[RING_BACKWARDS] = "backwards",
	};

	return names[verdict];
}

const char *ring_count__way(const struct ring_count *count, unsigned int way)
{
	static const char *const names[RING_WAYS] = { "u2k", "k2u" };

	return count->event->round_trip ? "round_trip" : names[way];
}

double ring_count__empty_cycles(const struct ring_count *count, unsigned int way)
{
	return ring_hist__quantile(&count->empty[way], 500);
}

double ring_count__baseline(const struct ring_result *result, const struct ring_count *count,
			    unsigned int way)
{
	return result->method->gross ? 0 : ring_count__empty_cycles(count, way);
}

/* Their names in the accounting. */
static const enum lat_count terms[RING_VERDICTS] = {
	[RING_SWITCHED] = LAT_EXCLUDED,	      [RING_INTERRUPTED] = LAT_EXCLUDED,
	[RING_STRAY_FAULTS] = LAT_EXCLUDED,   [RING_VM_EXITS] = LAT_EXCLUDED,
	[RING_NOT_HOOKED] = LAT_MISSED_START, [RING_BACKWARDS] = LAT_NEGATIVE,
};

static void add_metric(const struct ring_result *result, const struct ring_count *count,
		       unsigned int way, uint64_t tail_ns, struct run_probe *probe)
{
	struct run_metric *metric = &probe->metrics[probe->nr_metrics];
	struct lat_cell *cell = &probe->total.metrics[probe->nr_metrics++];
	double baseline = ring_count__baseline(result, count, way);

	snprintf(metric->name, sizeof(metric->name), "%s%s%s", count->event->name,
		 count->event->round_trip ? "" : "_",
		 count->event->round_trip ? "" : ring_count__way(count, way));
	snprintf(metric->what, sizeof(metric->what), "%s", count->event->what);
	cell->counts[LAT_SEEN] = count->attempted;
	for (unsigned int i = RING_KEPT + 1; i < RING_VERDICTS; i++)
		cell->counts[terms[i]] += count->misses[i];
	ring_hist__to_ns(&count->ways[way], baseline, result->tsc_khz, tail_ns, &cell->hist);
}

void ring_result__to_probe(const struct ring_result *result, uint64_t tail_ns,
			   struct run_probe *probe)
{
	const struct ring_method *method = result->method;

	snprintf(probe->name, sizeof(probe->name), "ringlat");
	snprintf(probe->method, sizeof(probe->method), "%s", method->name);
	snprintf(probe->mechanism, sizeof(probe->mechanism), "%s; %s; %s", method->mechanism,
		 ring_place__name(result->where.place),
		 method->gross ? "like xperf: nothing subtracted" : "empty windows subtracted");
	for (unsigned int i = 0; i < result->nr_events; i++) {
		for (unsigned int way = 0; way < result->events[i].nr_ways; way++)
			add_metric(result, &result->events[i], way, tail_ns, probe);
	}
}
