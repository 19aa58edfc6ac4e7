// SPDX-License-Identifier: BSD-2-Clause
/* The experiment: loads, and the reactions that they must cause. */
#include <math.h>
#include <stddef.h>

#include <core/units.h>
#include <selftest/check.h>
#include <selftest/io.h>
#include <selftest/loads.h>

#include "check_loads.h"

#define QUEUES_FACTOR 1.5 /* the disk queues if the threads sleep longer by this ... */
#define QUEUED_FACTOR 1.2 /* ... then the latency must grow by at least this */
#define SLEPT_SHARE 0.6 /* the rest of the sleep may be the wakeup */
#define CALLED_SHARE 1.02 /* a request is not longer in flight than its system call */
#define OTHERS_SHARE 0.001 /* largest share of other processes' reads on the disk */

static bool ask_io(const struct validate *validate, const struct group *group, void *asked)
{
	struct reference_dio *dio = asked;

	*dio = disk__ask(validate);
	dio->write = group->writes && dio->own;
	dio->sequential = group->sequential;
	dio->depth = group->depth;
	dio->count = UINT32_MAX;
	dio->duration_ns = validate->window_ns;
	return dio->write == group->writes;
}

static void hist_of_kind(const struct window *window, const struct group *group,
			 struct lat_hist *hist)
{
	window__key(window, group->metric, LAT_BY_OP, group->writes ? LAT_OP_WRITE : LAT_OP_READ,
		    hist);
}

/* By the kernel's count, which leaves out merged requests. */
static double others_share(const struct reference_dio *dio, bool writes)
{
	enum reference_disk_field field = writes ? REFERENCE_WRITES : REFERENCE_READS;
	double requests = (double)dio->after.field[field] - (double)dio->before.field[field];

	if (!dio->has_disk || !dio->io.count)
		return INFINITY;
	return fmax(requests / (double)dio->io.count - 1, 0);
}

static void witness_io(const struct window *window, const struct group *group,
		       struct reaction *reaction)
{
	const struct reference_dio *dio = window->child.reference;

	/*
	 * Counted over the window of the probe, like the rate; the interval is longer, because
	 * diskstats settle in it.
	 */
	reaction->called = (double)dio->io.sum_ns / window->run->duration_ns;
	reaction->made = loads__per_second(window, dio->io.count);
	reaction->others = others_share(dio, group->writes);
	if (!dio->has_blocked || !dio->io.count)
		return;
	reaction->slept = (double)dio->blocked_ns / window->run->duration_ns;
	reaction->slept_mean_ns = (double)dio->blocked_ns / dio->io.count;
}

enum { READ_1, READ_4, READ_16, READ_32, SEQUENTIAL, WRITE, IDLE };

#define IO(text, tasks, ...) \
	text, &disk_work, ask_io, disk__filter, hist_of_kind, witness_io, 2, tasks, __VA_ARGS__

static void judge_little(const struct validate *validate, const char *name,
			 const struct reaction *median)
{
	if (median->others > OTHERS_SHARE)
		check__skip(validate, name, "other processes read the disk");
	else
		check__number(validate, name, SLEPT_SHARE * median->slept,
			      CALLED_SHARE * median->called, median->in_flight);
}

static void judge_queueing(const struct validate *validate, const struct reaction *one,
			   const struct reaction *many)
{
	const char *name = "depth 1 to 32: mean of total";

	if (many->slept_mean_ns < QUEUES_FACTOR * one->slept_mean_ns)
		check__skip(validate, name, "the disk serves 32 requests as fast as one");
	else
		check__rise(validate, name, one->mean_ns, QUEUED_FACTOR, many->mean_ns, units__ns);
}

static void judge_io(const struct validate *validate, const struct reaction *median)
{
	loads__judge_rate(validate, "sequential reads: rate, idle to load", &median[IDLE],
			  &median[SEQUENTIAL]);
	if (median[WRITE].called > 0)
		loads__judge_rate(validate, "random writes: rate, idle to load", &median[IDLE],
				  &median[WRITE]);
	else
		check__skip(validate, "random writes: rate, idle to load",
			    "--disk is never written to");
	judge_queueing(validate, &median[READ_1], &median[READ_32]);
	judge_little(validate, "depth 1: rate x mean", &median[READ_1]);
	judge_little(validate, "depth 4: rate x mean", &median[READ_4]);
	judge_little(validate, "depth 16: rate x mean", &median[READ_16]);
	judge_little(validate, "depth 32: rate x mean", &median[READ_32]);
}

static int run_nothing(void *arg)
{
	const struct loads *loads = arg;

	load__sleep(loads->window_ns);
	return 0;
}

static const struct child_work idle_work = LOADS_WORK(run_nothing);

static int measure_all(struct window *window, struct lat_config *config)
{
	(void)window;
	*config = (struct lat_config){ 0 };
	return 0;
}

const struct experiment iolat_experiment = {
	.groups = {
		[READ_1] = { IO("reads, depth 1", 1, false, false) },
		[READ_4] = { IO("reads, depth 4", 4, false, false) },
		[READ_16] = { IO("reads, depth 16", 16, false, false) },
		[READ_32] = { IO("reads, depth 32", 32, false, false) },
		[SEQUENTIAL] = { IO("sequential reads", 4, false, true) },
		[WRITE] = { IO("random writes", 4, true, false) },
		[IDLE] = { "idle", &idle_work, loads__ask, measure_all, .metric = 2 },
	},
	.judge = judge_io,
};
