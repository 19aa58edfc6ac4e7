// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <math.h>

#include <core/hist.h>
#include <core/summary.h>
#include <core/units.h>
#include <print/wrap.h>

#include "view_answer.h"
#include <print/host_words.h>
#include "view_parts.h"
#include "view_states.h"

#define TITLE_COLUMNS 8
#define LEAST_TASKS 0.0005 /* that waited on average: less is nobody */
#define FEW_TASKS 0.005 /* what has no digit */

static double tasks(const struct answer *answer, unsigned int state)
{
	return accounts__share(answer->accounts.all.waited_ns[state],
			       (double)answer->run->duration_ns);
}

static void add_waiting(struct wrap *wrap, double tasks)
{
	if (tasks < LEAST_TASKS)
		wrap__add(wrap, "nobody waited");
	else if (tasks < FEW_TASKS)
		wrap__add(wrap, "<0.01 tasks waiting on average");
	else
		wrap__add(wrap, "%.*f task%s waiting on average", tasks < 0.1 ? 2 : 1, tasks,
			  tasks > 0.95 && tasks < 1.05 ? "" : "s");
}

/* "; page faults 12,345/s, p99 9 us", of the probe that explains such waits. */
static void add_samples(struct wrap *wrap, const struct answer *answer, unsigned int state)
{
	const struct run_probe *probe = reasons__probe(&answer->reasons, state);
	const struct lat_hist *hist;
	char text[UNITS_TEXT];
	uint64_t samples;

	if (!probe)
		return;
	hist = &probe->total.metrics[why__words(probe->name)->metric].hist;
	samples = run__recorded(&probe->total.metrics[why__words(probe->name)->metric]);
	if (!samples)
		return;
	wrap__add(wrap, "; %s %s", why__words(probe->name)->waits,
		  units__rate(text, summary__rate(samples, answer->run->duration_ns)));
	wrap__add(wrap, ", p99 %s", units__ns(text, (double)hist__quantile_ns(hist, 0.99)));
}

static void add_pressure(struct wrap *wrap, const struct answer *answer,
			 enum pressure_column column)
{
	double share;

	if (checks__pressure(answer->run, answer->probe, column, &share))
		wrap__add(wrap, "; pressure %.0f %%", 100 * share);
}

static void print_line(FILE *out, const char *title, struct wrap *wrap)
{
	fprintf(out, "%-*s ", TITLE_COLUMNS - 1, title);
	wrap__print_after(wrap, out, TITLE_COLUMNS);
}

/* After what is known of it alone: of a state that a probe explains, and the pressure. */
static void print_resource(FILE *out, const struct answer *answer, const char *title,
			   struct wrap *wrap, double tasks, unsigned int state,
			   enum pressure_column column)
{
	add_waiting(wrap, tasks);
	add_samples(wrap, answer, state);
	add_pressure(wrap, answer, column);
	print_line(out, title, wrap);
}

static void print_cpu(FILE *out, const struct answer *answer)
{
	double busy = accounts__share(answer->accounts.all.ns[WHERE_CPU],
				      (double)answer->run->duration_ns);
	int64_t cpus = host_words__cpus(answer->run);
	struct wrap wrap = { 0 };

	if (cpus && !answer->probe->filter)
		wrap__add(&wrap, "%.1f of %" PRId64 " busy; ", fmin(busy, (double)cpus), cpus);
	print_resource(out, answer, "CPU", &wrap, tasks(answer, WHERE_READY), WHERE_READY,
		       PRESSURE_CPU_SOME);
}

static void print_disk(FILE *out, const struct answer *answer)
{
	const char *disk = reasons__disk(&answer->reasons);
	struct wrap wrap = { 0 };

	if (disk)
		wrap__add(&wrap, "%s: ", disk);
	print_resource(out, answer, "disk", &wrap, tasks(answer, WHERE_DISK), WHERE_DISK,
		       PRESSURE_IO_SOME);
}

static void print_locks(FILE *out, const struct answer *answer)
{
	struct wrap wrap = { 0 };
	double waiting = tasks(answer, WHERE_LOCK) + tasks(answer, WHERE_FUTEX);

	add_waiting(&wrap, waiting);
	if (waiting >= FEW_TASKS)
		waits__add_worst(&wrap, answer->probe->more[RUN_WAITS],
				 1U << WHERE_LOCK | 1U << WHERE_FUTEX);
	print_line(out, "locks", &wrap);
}

void resources__print(FILE *out, const struct answer *answer)
{
	struct wrap wrap = { 0 };

	print_cpu(out, answer);
	print_resource(out, answer, "memory", &wrap,
		       tasks(answer, WHERE_MEMORY) + tasks(answer, WHERE_FAULT), WHERE_MEMORY,
		       PRESSURE_MEMORY_SOME);
	print_disk(out, answer);
	print_locks(out, answer);
}
