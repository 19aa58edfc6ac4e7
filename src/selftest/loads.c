// SPDX-License-Identifier: BSD-2-Clause
/* The experiments: the loads, and the reactions that they must cause. */
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/units.h>
#include <loadgen/load.h>

#include "check.h"
#include "io.h"
#include "probe_checks.h"

#define MEASURED "latscope-load" /* name of the tasks that are measured */
#define RATE_FACTOR 1.5 /* a load must raise the rate by this ... */
#define MADE_FACTOR 2 /* ... if it makes this many times the events of all others */
#define SEEN_SHARE 0.8 /* least share of the load's faults, by getrusage */
#define WAIT_FACTOR 1.5 /* other tasks take the CPU even without hogs */
#define MANY_HOGS 8 /* per CPU */
#define QUEUES_FACTOR 1.5 /* the disk queues if the threads sleep longer by this ... */
#define QUEUED_FACTOR 1.2 /* ... then the latency must grow by at least this */
#define SLEPT_SHARE 0.6 /* the rest of the sleep may be the wakeup */
#define CALLED_SHARE 1.02 /* a request is not longer in flight than its system call */
#define OTHERS_SHARE 0.001 /* largest share of other processes' reads on the disk */

struct loads {
	uint64_t window_ns;
	unsigned int tasks; /* of the load, 0: none */
	uint64_t made; /* page faults of the load */
	char why[REFERENCE_WHY];
};

static int run_kind(const char *kind, uint64_t duration_ns, unsigned int tasks)
{
	struct load_config config = { .duration_ns = duration_ns,
				      .tasks = tasks,
				      .writes = LOAD_WRITES };

	return load__find(kind)->run(&config);
}

static int run_touch(void *arg)
{
	struct loads *loads = arg;
	struct reference_faults faults;
	int err;

	prctl(PR_SET_NAME, MEASURED);
	if (!loads->tasks) {
		load__sleep(loads->window_ns);
		return 0;
	}
	err = run_kind("touch", loads->window_ns, 0);
	faults = reference__faults(RUSAGE_CHILDREN);
	loads->made = faults.minor + faults.major;
	return err;
}

/* The hogs have a parent process of their own, which ends with this one. */
static pid_t start_hogs(const struct loads *loads)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(run_kind("hog", 2 * loads->window_ns, loads->tasks) != 0);
}

static int run_pingpong(void *arg)
{
	const struct loads *loads = arg;
	pid_t hogs = loads->tasks ? start_hogs(loads) : 0;
	int err;

	prctl(PR_SET_NAME, MEASURED);
	err = run_kind("pingpong", loads->window_ns, 0);
	if (hogs > 0) {
		kill(hogs, SIGKILL);
		waitpid(hogs, NULL, 0);
	}
	return err;
}

static int run_hogs(void *arg)
{
	const struct loads *loads = arg;

	prctl(PR_SET_NAME, MEASURED);
	return run_kind("hog", loads->window_ns, loads->tasks);
}

static const struct child_work hogs_work = {
	.size = sizeof(struct loads),
	.why = offsetof(struct loads, why),
	.run = run_hogs,
};

static const struct child_work touch_work = {
	.size = sizeof(struct loads),
	.why = offsetof(struct loads, why),
	.run = run_touch,
};

static const struct child_work pingpong_work = {
	.size = sizeof(struct loads),
	.why = offsetof(struct loads, why),
	.run = run_pingpong,
};

static bool ask_load(const struct validate *validate, const struct group *group, void *asked)
{
	struct loads *loads = asked;

	loads->window_ns = validate->window_ns;
	loads->tasks = group->depth * (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	return true;
}

static int measure_all(struct window *window, struct lat_config *config)
{
	(void)window;
	*config = (struct lat_config){ 0 };
	return 0;
}

static int measure_named(struct window *window, struct lat_config *config)
{
	(void)window;
	*config = (struct lat_config){ .comm = MEASURED };
	return 0;
}

static const char *as_rate(char *text, double value)
{
	return units__rate(text, value);
}

static const char *as_time(char *text, double value)
{
	return units__ns(text, value);
}

static double per_second(const struct window *window, uint64_t count)
{
	return (double)count * NSEC_PER_SEC / window->run->duration_ns;
}

static void witness_touch(const struct window *window, const struct group *group,
			  struct reaction *reaction)
{
	const struct loads *loads = window->child.reference;

	(void)group;
	reaction->made = per_second(window, loads->made);
}

/* These are rates of the whole machine: if it is busy, the load may add little. */
static void judge_rate(const struct validate *validate, const char *name,
		       const struct reaction *idle, const struct reaction *load)
{
	if (load->made < MADE_FACTOR * idle->rate)
		check__skip(validate, name,
			    "other processes do as much as the load: the machine is busy");
	else
		check__rise(validate, name, idle->rate, RATE_FACTOR, load->rate, as_rate);
}

enum { OFF, ON };

static void judge_touch(const struct validate *validate, const struct reaction *median)
{
	judge_rate(validate, "touch: fault rate, idle to load", &median[OFF], &median[ON]);
	check__rise(validate, "touch: fault rate, by getrusage", median[ON].made, SEEN_SHARE,
		    median[ON].rate, as_rate);
}

const struct experiment memlat_experiment = {
	.groups = { { "idle", &touch_work, ask_load, measure_named },
		    { "touch", &touch_work, ask_load, measure_named, .witness = witness_touch,
		      .depth = 1 } },
	.judge = judge_touch,
};

enum { PINGPONG, PINGPONG_AND_HOGS, ONE_HOG, HOGS };

static void judge_hogs(const struct validate *validate, const struct reaction *median)
{
	check__rise(validate, "hogs, 1 to 8 per CPU: p99 of waits", median[ONE_HOG].p99_ns,
		    WAIT_FACTOR, median[HOGS].p99_ns, as_time);
	check__rise(validate, "pingpong, with hogs: mean wait", median[PINGPONG].mean_ns,
		    WAIT_FACTOR, median[PINGPONG_AND_HOGS].mean_ns, as_time);
}

const struct experiment runqlat_experiment = {
	.groups = {
		[PINGPONG] = { "pingpong", &pingpong_work, ask_load, measure_named },
		[PINGPONG_AND_HOGS] = { "pingpong with hogs", &pingpong_work, ask_load,
					measure_named, .depth = MANY_HOGS },
		[ONE_HOG] = { "one hog per CPU", &hogs_work, ask_load, measure_named, .depth = 1 },
		[HOGS] = { "many hogs", &hogs_work, ask_load, measure_named, .depth = MANY_HOGS },
	},
	.judge = judge_hogs,
};

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
	reaction->made = per_second(window, dio->io.count);
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
		check__rise(validate, name, one->mean_ns, QUEUED_FACTOR, many->mean_ns, as_time);
}

static void judge_io(const struct validate *validate, const struct reaction *median)
{
	judge_rate(validate, "sequential reads: rate, idle to load", &median[IDLE],
		   &median[SEQUENTIAL]);
	if (median[WRITE].called > 0)
		judge_rate(validate, "random writes: rate, idle to load", &median[IDLE],
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

static const struct child_work idle_work = {
	.size = sizeof(struct loads),
	.why = offsetof(struct loads, why),
	.run = run_nothing,
};

const struct experiment iolat_experiment = {
	.groups = {
		[READ_1] = { IO("reads, depth 1", 1, false, false) },
		[READ_4] = { IO("reads, depth 4", 4, false, false) },
		[READ_16] = { IO("reads, depth 16", 16, false, false) },
		[READ_32] = { IO("reads, depth 32", 32, false, false) },
		[SEQUENTIAL] = { IO("sequential reads", 4, false, true) },
		[WRITE] = { IO("random writes", 4, true, false) },
		[IDLE] = { "idle", &idle_work, ask_load, measure_all, .metric = 2 },
	},
	.judge = judge_io,
};
