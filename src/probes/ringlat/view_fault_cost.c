// SPDX-License-Identifier: BSD-2-Clause
#include <core/units.h>
#include <print/probe_view.h>
#include <print/wrap.h>

#include "fault_cost.h"
#include "view.h"

/* The rest can be negative: it is a difference of two measurements. */
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

	if (!fault_cost__of(&cost, run))
		return;
	fputc('\n', out);
	wrap__line(out, 0, 2, "page fault as a whole: ringlat by %s, memlat by %s (%s)",
		   cost.ringlat->method, cost.memlat->method, cost.memlat->metrics[0].name);
	fprintf(out, "  %-12s  %9s  %9s %9s\n", "", "median", "mean", "of mean");
	for (unsigned int i = 0; i < cost.nr_parts; i++)
		row(out, &cost, &cost.parts[i]);
	row(out, &cost, &cost.whole);
	wrap__line(out, 2, 2, "%s",
		   cost.round_trip ? "rest: both crossings, and the kernel's entry and exit code "
				     "outside memlat's window"
				   : "not included: the kernel's entry and exit code");
}

static void print_end(FILE *out, const struct run *run, const void *more)
{
	(void)more;
	fault_cost__print(out, run);
}

const struct probe_view ringlat_view = {
	.print_end = print_end,
};
