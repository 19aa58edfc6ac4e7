// SPDX-License-Identifier: BSD-2-Clause

#include <inttypes.h>
#include <string.h>

#include <core/activity.h>
#include <core/units.h>
#include <core/why.h>

#include "text.h"
#include "wrap.h"

#define MOSTLY 2 /* of these looks, one: it is said where a process sleeps */

/* What the chosen processes did, all together. */
static struct activity sum_of(const struct table *table)
{
	struct activity sum = { 0 };

	for (size_t key = 0; key < table__keys(table); key++) {
		const struct activity one = activity__of(table, key);

		sum.chosen |= one.chosen;
		sum.threads += one.threads;
		sum.lived_ns += one.lived_ns;
		sum.run_ns += one.run_ns;
		sum.queue_ns += one.queue_ns;
		sum.looks += one.looks;
		sum.asleep += one.asleep;
		sum.blocked += one.blocked;
		if (one.in_call <= sum.in_call)
			continue;
		sum.in_call = one.in_call;
		sum.call = one.call;
		sum.process = one.process;
	}
	return sum;
}

/* "It waited for a CPU 0.1 %, for page faults 0.0 %, for disks 0.2 % of that." */
static void say_waits(struct wrap *wrap, const struct run *run, uint64_t lived_ns)
{
	char share[UNITS_TEXT];
	bool first = true;

	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];
		const char *what = why__words(probe->name)->waits_for;

		if (!what || probe->refused[0] || !probe->nr_metrics)
			continue;
		wrap__add(wrap, "%s for %s %s", first ? "It waited" : ",", what,
			  units__share(share, probe->total.metrics[0].hist.sum_ns, lived_ns));
		first = false;
	}
	if (!first)
		wrap__add(wrap, " of that. ");
}

static void say_chosen(FILE *out, const struct run *run)
{
	const struct activity sum = sum_of(run->activity);
	char lived[UNITS_TEXT], ran[UNITS_TEXT], asleep[UNITS_TEXT];
	struct wrap wrap = { 0 };

	if (!sum.chosen || !sum.lived_ns)
		return;
	wrap__add(&wrap, "%s: %" PRIu64 " %s lived %s: %s on a CPU, %s asleep. ",
		  run->filter ? run->filter : "all", sum.threads,
		  sum.threads == 1 ? "thread" : "threads", units__ns(lived, (double)sum.lived_ns),
		  units__share(ran, sum.run_ns, sum.lived_ns),
		  units__share(asleep, activity__sleep_ns(&sum), sum.lived_ns));
	say_waits(&wrap, run, sum.lived_ns);
	wrap__add(&wrap, "latscope does not see what else it slept for");
	if (sum.call && sum.in_call * MOSTLY >= sum.asleep)
		wrap__add(&wrap, "; mostly it was in %s", sum.call);
	else if (sum.blocked * MOSTLY > sum.asleep)
		wrap__add(&wrap, "; mostly it was uninterruptible (state D)");
	wrap__add(&wrap, ".");
	wrap__print(&wrap, out, 0, 2);
	fputc('\n', out);
}

static void print_row(FILE *out, const struct activity *row)
{
	char name[RUN_NAME], lived[UNITS_TEXT], share[UNITS_TEXT];

	snprintf(name, sizeof(name), "%s (%" PRIu64 ")", row->process, row->pid);
	text__key_name(out, name);
	fprintf(out, " %7" PRIu64 " %8s", row->threads, units__ns(lived, (double)row->lived_ns));
	fprintf(out, " %7s", units__share(share, row->run_ns, row->lived_ns));
	fprintf(out, " %7s", units__share(share, row->queue_ns, row->lived_ns));
	fprintf(out, " %7s", units__share(share, activity__sleep_ns(row), row->lived_ns));
	if (row->call && row->in_call * MOSTLY >= row->asleep)
		fprintf(out, "  %.14s", row->call);
	else if (row->blocked * MOSTLY > row->asleep)
		fprintf(out, "  (state D)");
	fputc('\n', out);
}

void activity_text__print(FILE *out, const struct run *run, unsigned int top)
{
	const struct table *table = run->activity;
	size_t shown;

	if (!table || !table__keys(table))
		return;
	shown = top && top < table__keys(table) ? top : table__keys(table);
	fputc('\n', out);
	say_chosen(out, run);
	fprintf(out, "%-*s %7s %8s %7s %7s %7s  %s\n", TEXT_NAME_COLUMNS, "process", "threads",
		"lived", "on CPU", "queued", "asleep", "mostly in");
	for (size_t key = 0; key < shown; key++) {
		const struct activity row = activity__of(table, key);

		print_row(out, &row);
	}
	if (shown < table__keys(table))
		fprintf(out, "%zu more\n", table__keys(table) - shown);
}
