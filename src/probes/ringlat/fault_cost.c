// SPDX-License-Identifier: BSD-2-Clause
#include "fault_cost.h"

#include <string.h>

#include <core/hist.h>

static const struct run_probe *find_probe(const struct run *run, const char *name)
{
	const struct run_probe *probe = run__probe(run, name);

	return probe && !probe->refused[0] ? probe : NULL;
}

/* NULL also if it has no samples. */
static const struct lat_hist *find_metric(const struct run_probe *probe, const char *name)
{
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		const struct lat_cell *cell = &probe->total.metrics[i];

		if (!strcmp(probe->metrics[i].name, name) && run__recorded(cell))
			return &cell->hist;
	}
	return NULL;
}

static struct fault_cost_part part_of(const char *name, const struct lat_hist *hist)
{
	return (struct fault_cost_part){ name, (double)hist__quantile_ns(hist, 0.5),
					 hist__mean_ns(hist) };
}

static void add_part(struct fault_cost *cost, struct fault_cost_part part)
{
	cost->parts[cost->nr_parts++] = part;
}

static void sum_up(struct fault_cost *cost)
{
	cost->whole = (struct fault_cost_part){ .name = "sum" };
	for (unsigned int i = 0; i < cost->nr_parts; i++) {
		cost->whole.p50_ns += cost->parts[i].p50_ns;
		cost->whole.mean_ns += cost->parts[i].mean_ns;
	}
}

static void take_away(struct fault_cost *cost)
{
	const struct fault_cost_part *handler = &cost->parts[0];

	add_part(cost, (struct fault_cost_part){ "rest", cost->whole.p50_ns - handler->p50_ns,
						 cost->whole.mean_ns - handler->mean_ns });
}

bool fault_cost__of(struct fault_cost *cost, const struct run *run)
{
	const struct lat_hist *in, *out, *both, *handler;

	memset(cost, 0, sizeof(*cost));
	cost->ringlat = find_probe(run, "ringlat");
	cost->memlat = find_probe(run, "memlat");
	if (!cost->ringlat || !cost->memlat)
		return false;
	handler = find_metric(cost->memlat, cost->memlat->metrics[0].name);
	in = find_metric(cost->ringlat, "fault_u2k");
	out = find_metric(cost->ringlat, "fault_k2u");
	both = find_metric(cost->ringlat, "minor_fault");
	if (!handler || !((in && out) || both))
		return false;
	cost->round_trip = both;
	if (both) {
		cost->whole = part_of("round trip", both);
		add_part(cost, part_of("handler", handler));
		take_away(cost);
		return true;
	}
	add_part(cost, part_of("u2k", in));
	add_part(cost, part_of("handler", handler));
	add_part(cost, part_of("k2u", out));
	sum_up(cost);
	return true;
}
