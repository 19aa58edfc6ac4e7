// SPDX-License-Identifier: BSD-2-Clause
/* ringlat --like xperf: the table of that patch of Linux 4.19, with this machine next to it. */
#include <string.h>

#include <core/units.h>
#include <print/wrap.h>

#include "view.h"

#define CELL 24

/* As published in August 2019. */
static const struct {
	const char *platform;
	unsigned int u2k, k2u; /* cycles, "about" */
} published[] = {
	{ "xperf, virtual (Xeon E5 v3, 2.4 GHz)", 600, 370 },
	{ "xperf, bare metal (the same CPU)", 440, 270 },
};

static void row(FILE *out, const char *platform, const char *u2k, const char *k2u)
{
	fprintf(out, "  %-40.40s %17s %17s\n", platform, u2k, k2u);
}

static void mean_row(FILE *out, const char *platform, const double mean[RING_WAYS])
{
	char cells[RING_WAYS][CELL];

	for (unsigned int way = 0; way < RING_WAYS; way++)
		snprintf(cells[way], CELL, "%.1f", mean[way]);
	row(out, platform, cells[RING_USER_TO_KERNEL], cells[RING_KERNEL_TO_USER]);
}

static void published_rows(FILE *out)
{
	char u2k[CELL], k2u[CELL];

	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		snprintf(u2k, sizeof(u2k), "~%u", published[i].u2k);
		snprintf(k2u, sizeof(k2u), "~%u", published[i].k2u);
		row(out, published[i].platform, u2k, k2u);
	}
}

static double mean_of(const struct ring_result *result, const struct ring_count *count,
		      unsigned int way)
{
	struct ring_summary summary;

	ring_summary__of(&summary, &count->ways[way], ring_count__baseline(result, count, way));
	return summary.mean;
}

/* A round trip has no directions: its mean is in a line of its own. */
static void own_rows(FILE *out, const struct ring_result *result, const struct ring_count *count)
{
	char platform[2 * CELL], text[2 * CELL];
	double mean[RING_WAYS];

	snprintf(platform, sizeof(platform), "here, %s, by %s",
		 ring_place__name(result->where.place), result->method->name);
	if (count->event->round_trip) {
		row(out, platform, "-", "-");
		snprintf(text, sizeof(text), "round trip %.1f", mean_of(result, count, 0));
		fprintf(out, "  %-40s %35s\n", "  with the kernel's work", text);
		return;
	}
	for (unsigned int way = 0; way < RING_WAYS; way++)
		mean[way] = mean_of(result, count, way);
	mean_row(out, platform, mean);
	for (unsigned int way = 0; way < RING_WAYS; way++)
		mean[way] = ring_count__empty_cycles(count, way);
	mean_row(out, "  of that, an empty window", mean);
}

static void explain(FILE *out, const struct ring_result *result)
{
	bool kpti = !strcmp(result->where.kpti, "yes");

	wrap__line(out, 2, 2, "%s", result->method->between);
	wrap__line(out, 2, 2,
		   "MFENCE alone, as in xperf, does not order RDTSC on Intel CPUs: without "
		   "--like, ringlat has LFENCE at both ends, subtracts empty windows and "
		   "keeps the page warm.");
	if (kpti) {
		wrap__line(out, 2, 2,
			   "KPTI is on: each crossing of this kernel also switches page "
			   "tables, which xperf did not (it had KPTI compiled out). User "
			   "page tables do not map stubs, so the method module needs "
			   "pti=off; kvm has no KPTI in its guest.");
	}
}

void ringlat__print_xperf(FILE *out, const struct ring_result *result)
{
	const struct ring_count *count = result->events;
	char text[UNITS_TEXT];

	if (!result->nr_events)
		return;
	fputc('\n', out);
	wrap__line(out, 0, 2,
		   "like xperf: page faults of a fresh page each time, mean of %s, in cycles "
		   "of the TSC, nothing subtracted",
		   units__count(text, count->kept));
	row(out, "platform", "user to kernel", "kernel to user");
	published_rows(out);
	own_rows(out, result, count);
	explain(out, result);
}
