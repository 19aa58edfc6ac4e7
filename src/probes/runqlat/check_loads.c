// SPDX-License-Identifier: BSD-2-Clause
/* The experiment: loads, and the reactions that they must cause. */
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/units.h>
#include <selftest/check.h>
#include <selftest/loads.h>

#include "check_loads.h"

#define MANY_HOGS 8 /* per CPU */
#define WAIT_FACTOR 1.5 /* other tasks take the CPU even without hogs */

/* The hogs have a parent process of their own, which ends with this one. */
static pid_t start_hogs(const struct loads *loads)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(loads__run("hog", 2 * loads->window_ns, loads->tasks) != 0);
}

static int run_pingpong(void *arg)
{
	const struct loads *loads = arg;
	pid_t hogs = loads->tasks ? start_hogs(loads) : 0;
	int err;

	prctl(PR_SET_NAME, LOADS_NAME);
	err = loads__run("pingpong", loads->window_ns, 0);
	if (hogs > 0) {
		kill(hogs, SIGKILL);
		waitpid(hogs, NULL, 0);
	}
	return err;
}

static int run_hogs(void *arg)
{
	const struct loads *loads = arg;

	prctl(PR_SET_NAME, LOADS_NAME);
	return loads__run("hog", loads->window_ns, loads->tasks);
}

static const struct child_work hogs_work = LOADS_WORK(run_hogs);
static const struct child_work pingpong_work = LOADS_WORK(run_pingpong);

enum { PINGPONG, PINGPONG_AND_HOGS, ONE_HOG, HOGS };

static void judge_hogs(const struct validate *validate, const struct reaction *median)
{
	check__rise(validate, "hogs, 1 to 8 per CPU: p99 of waits", median[ONE_HOG].p99_ns,
		    WAIT_FACTOR, median[HOGS].p99_ns, units__ns);
	check__rise(validate, "pingpong, with hogs: mean wait", median[PINGPONG].mean_ns,
		    WAIT_FACTOR, median[PINGPONG_AND_HOGS].mean_ns, units__ns);
}

const struct experiment runqlat_experiment = {
	.groups = {
		[PINGPONG] = { "pingpong", &pingpong_work, loads__ask, loads__measure_named },
		[PINGPONG_AND_HOGS] = { "pingpong with hogs", &pingpong_work, loads__ask,
					loads__measure_named, .depth = MANY_HOGS },
		[ONE_HOG] = { "one hog per CPU", &hogs_work, loads__ask, loads__measure_named,
			      .depth = 1 },
		[HOGS] = { "many hogs", &hogs_work, loads__ask, loads__measure_named,
			   .depth = MANY_HOGS },
	},
	.judge = judge_hogs,
};
