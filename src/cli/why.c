// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <errno.h>

#include <core/units.h>

#define MOST_EVENTS 65536

const struct argp_option why_options[] = { WHY_OVER_OPTION, WHY_EVENTS_OPTION, { 0 } };

const char why_doc[] =
	"Explains what was slow: divides each slow page fault, wait for a CPU and block request "
	"into parts that sum to it, and names who caused it. Prints for each probe a conclusion, "
	"the parts, the worst pairs of victim and culprit, and the slowest events with their "
	"stacks. Measures until -d has passed, the workload has ended or Ctrl-C.\v"
	"Examples:\n"
	"  latscope why -d 10s                       the slowest 1 % of each probe\n"
	"  latscope why -d 10s --over 1ms -p 1234    what took a process over 1 ms\n"
	"  latscope runqlat --why -d 10s             only waits for a CPU\n"
	"  latscope why --by cgroup --over p99.9 -d 1m\n"
	"  latscope why --by cpu --cpu 2-7 --over 20us   who takes isolated CPUs\n"
	"  latscope why -o runs/ -- make -j8         while a command runs\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

static int set_over(struct why_command *command, const char *text)
{
	command->over = text;
	command->request.over_ns = 0;
	command->request.quantile = 0;
	if (text[0] == 'p')
		return units__parse_percent(text + 1, 50, 99.9999, &command->request.quantile)
			       ? options__fail(command->options, "--over %s: use p50 to p99.9999",
					       text)
			       : 0;
	return units__parse_duration(text, &command->request.over_ns)
		       ? options__fail(command->options,
				       "--over '%s': invalid threshold; use 1ms, 500us or p99.9",
				       text)
		       : 0;
}

error_t why__parse(struct why_command *command, int key, char *arg)
{
	uint64_t value = 0;
	int err;

	switch (key) {
	case KEY_OVER:
		return set_over(command, arg);
	case KEY_EVENTS:
		err = options__count(command->options, "--events", arg, 1, MOST_EVENTS, &value);
		command->request.events = (unsigned int)value;
		return err;
	}
	return ARGP_ERR_UNKNOWN;
}

int why__check(struct why_command *command, bool only, uint32_t *why)
{
	struct options *options = command->options;
	uint32_t tasks = 1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP;
	uint32_t all = tasks | 1U << LAT_BY_CPU, by = options->by & tasks;

	*why = 0;
	if (!command->wanted)
		return command->over || command->request.events
			       ? options__fail(options, "--over and --events need --why")
			       : 0;
	if (only && (options->by & (options->by - 1) || options->by & ~all))
		return options__fail(options, "--by takes one of process, thread, cgroup, cpu");
	*why = 1 + (by & 1U << LAT_BY_PROCESS  ? LAT_BY_PROCESS
		    : by & 1U << LAT_BY_THREAD ? LAT_BY_THREAD
		    : by & 1U << LAT_BY_CGROUP ? LAT_BY_CGROUP
		    : only && options->by      ? LAT_BY_CPU
					       : LAT_BY_PROCESS);
	if (only)
		options->by = 0;
	return 0;
}
