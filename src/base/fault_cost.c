// SPDX-License-Identifier: BSD-2-Clause
#include "fault_cost.h"

#include <string.h>

#include "hist.h"
#include "units.h"
#include "wrap.h"

static const struct run_module *find_module(const struct run *run, const char *name)
{
	for (unsigned int i = 0; i < run->nr_modules; i++) {
		if (!strcmp(run->modules[i].name, name) && !run->modules[i].refused[0])
			return &run->modules[i];
	}
	return NULL;
}

/* NULL also if it has no samples. */
static const struct lat_hist *find_metric(const struct run_module *module, const char *name)
{
	for (unsigned int i = 0; i < module->nr_metrics; i++) {
		const struct lat_cell *cell = &module->total.metrics[i];

		if (!strcmp(module->metrics[i].name, name) && run__recorded(cell))
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
	cost->ringlat = find_module(run, "ringlat");
	cost->memlat = find_module(run, "memlat");
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

/* A rest of measurements by different means may be below zero. */
static void time_column(FILE *out, double ns)
{
	char text[UNITS_TEXT];

	fprintf(out, " %s%9s", ns < 0 ? "-" : " ", units__ns(text, ns < 0 ? -ns : ns));
}

static void row(FILE *out, const struct fault_cost *cost, const struct fault_cost_part *part)
{
	double share = cost->whole.mean_ns > 0 ? part->mean_ns / cost->whole.mean_ns : 0;

	fprintf(out, "  %-12s", part->name);
	time_column(out, part->p50_ns);
	time_column(out, part->mean_ns);
	fprintf(out, " %7.1f %%\n", share * 100);
}

void fault_cost__print(FILE *out, const struct run *run)
{
	struct fault_cost cost;
	struct wrap wrap = { 0 };

	if (!fault_cost__of(&cost, run))
		return;
	wrap__add(&wrap, "page fault, put together: ringlat by %s, memlat by %s (%s)",
		  cost.ringlat->rung, cost.memlat->rung, cost.memlat->metrics[0].name);
	fputc('\n', out);
	wrap__print(&wrap, out, 0, 2);
	fprintf(out, "  %-12s  %9s  %9s %9s\n", "", "median", "mean", "of mean");
	for (unsigned int i = 0; i < cost.nr_parts; i++)
		row(out, &cost, &cost.parts[i]);
	row(out, &cost, &cost.whole);
	if (cost.round_trip)
		wrap__add(&wrap,
			  "rest: both crossings and the kernel's entry and exit code, as far "
			  "as memlat's window leaves them out");
	else
		wrap__add(&wrap, "in none of these: the kernel's entry and exit code");
	wrap__print(&wrap, out, 2, 2);
}
