// SPDX-License-Identifier: BSD-2-Clause
/* The experiment: loads, and the reactions that they must cause. */
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <core/units.h>
#include <selftest/check.h>
#include <selftest/loads.h>

#include "check_loads.h"

#define SEEN_SHARE 0.8 /* least share of the load's faults, by getrusage */

static int run_touch(void *arg)
{
	struct loads *loads = arg;
	struct reference_faults faults;
	int err;

	prctl(PR_SET_NAME, LOADS_NAME);
	if (!loads->tasks) {
		load__sleep(loads->window_ns);
		return 0;
	}
	err = loads__run("touch", loads->window_ns, 0);
	faults = reference__faults(RUSAGE_CHILDREN);
	loads->made = faults.minor + faults.major;
	return err;
}

static const struct child_work touch_work = LOADS_WORK(run_touch);

static void witness_touch(const struct window *window, const struct group *group,
			  struct reaction *reaction)
{
	const struct loads *loads = window->child.reference;

	(void)group;
	reaction->made = loads__per_second(window, loads->made);
}

enum { OFF, ON };

static void judge_touch(const struct validate *validate, const struct reaction *median)
{
	loads__judge_rate(validate, "touch: fault rate, idle to load", &median[OFF], &median[ON]);
	check__rise(validate, "touch: fault rate, by getrusage", median[ON].made, SEEN_SHARE,
		    median[ON].rate, units__rate);
}

const struct experiment memlat_experiment = {
	.groups = { { "idle", &touch_work, loads__ask, loads__measure_named },
		    { "touch", &touch_work, loads__ask, loads__measure_named,
		      .witness = witness_touch, .depth = 1 } },
	.judge = judge_touch,
};
