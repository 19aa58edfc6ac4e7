// SPDX-License-Identifier: BSD-2-Clause
#include "loads.h"

#include <unistd.h>

#include <core/units.h>

#include "check.h"

#define RATE_FACTOR 1.5 /* a load must raise the rate by this ... */
#define MADE_FACTOR 2 /* ... if it makes this many times the events of all others */

int loads__run(const char *kind, uint64_t duration_ns, unsigned int tasks)
{
	struct load_config config = { .duration_ns = duration_ns,
				      .tasks = tasks,
				      .writes = LOAD_WRITES };

	return load__find(kind)->run(&config);
}

bool loads__ask(const struct validate *validate, const struct group *group, void *asked)
{
	struct loads *loads = asked;

	loads->window_ns = validate->window_ns;
	loads->tasks = group->depth * (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	return true;
}

int loads__measure_named(struct window *window, struct lat_config *config)
{
	(void)window;
	*config = (struct lat_config){ .comm = LOADS_NAME };
	return 0;
}

double loads__per_second(const struct window *window, uint64_t count)
{
	return (double)count * NSEC_PER_SEC / window->run->duration_ns;
}

void loads__judge_rate(const struct validate *validate, const char *name,
		       const struct reaction *idle, const struct reaction *load)
{
	if (load->made < MADE_FACTOR * idle->rate)
		check__skip(validate, name,
			    "other processes do as much as the load: the machine is busy");
	else
		check__rise(validate, name, idle->rate, RATE_FACTOR, load->rate, units__rate);
}
