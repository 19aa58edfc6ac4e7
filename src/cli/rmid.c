// SPDX-License-Identifier: BSD-2-Clause
#include "rmid.h"

#include <errno.h>
#include <string.h>

#include <probes/rmid/counters.h>

#define MAX_TOP 1000000

enum { KEY_COUNTERS = 0x1000, KEY_METHOD, KEY_TOP };

#define COUNTERS "cycles, instructions, llc-misses, llc-references, branch-misses, page-faults"
#define COUNTERS_HELP \
	"Perf events to read, up to 4 of " COUNTERS ", or none (default: the first three)"

const struct argp_option rmid_options[] = {
	{ "counters", KEY_COUNTERS, "LIST", 0, COUNTERS_HELP, 0 },
	{ "method", KEY_METHOD, "NAME", 0, "Use only this method: module or switches", 0 },
	{ "top", KEY_TOP, "N", 0, "Show this many processes (10)", 0 },
	{ 0 },
};

const char rmid_doc[] =
	"Measures the CPU time of each process in each millisecond, and with a PMU and RDT its "
	"cycles, instructions, cache misses, cache occupancy and memory traffic, until -d has "
	"passed, the workload has ended or Ctrl-C.\v"
	"Examples:\n"
	"  latscope rmid -d 5s                       who had the CPUs\n"
	"  latscope rmid -i 1s                       a table a second\n"
	"  latscope rmid -d 1s --csv                 every millisecond of every process\n"
	"  latscope rmid --counters page-faults -o runs/ -- ./workload\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

void rmid__init(struct rmid_command *command, struct options *options)
{
	command->config.counters = (1U << COUNTERS_DEFAULT) - 1;
	command->config.counters_optional = true;
	command->options = options;
}

static error_t set_counters(struct rmid_command *command, const char *list)
{
	command->config.counters = 0;
	command->config.counters_optional = false;
	if (!strcmp(list, "none"))
		return 0;
	switch (counters__parse(list, &command->config.counters)) {
	case 0:
		return 0;
	case -E2BIG:
		return options__fail(command->options, "--counters '%s': %d at most", list,
				     RMID_COUNTERS);
	default:
		return options__fail(
			command->options,
			"--counters '%s': unknown counter; use none, or some of " COUNTERS, list);
	}
}

error_t rmid__parse(struct rmid_command *command, int key, char *arg)
{
	uint64_t value = 0;
	int err;

	switch (key) {
	case KEY_COUNTERS:
		return set_counters(command, arg);
	case KEY_METHOD:
		command->options->method = arg;
		return 0;
	case KEY_TOP:
		err = options__count(command->options, "--top", arg, 1, MAX_TOP, &value);
		command->options->top = (unsigned int)value;
		return err;
	}
	return ARGP_ERR_UNKNOWN;
}
