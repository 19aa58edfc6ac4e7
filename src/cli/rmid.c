// SPDX-License-Identifier: BSD-2-Clause
#include "rmid.h"

#include <errno.h>
#include <string.h>

#include <linux/types.h>

#include <probes/rmid/counters.h>
#include <uapi/latscope/rmid.h>

#define MAX_TOP 1000000

enum {
	KEY_COUNTERS = 0x1000,
	KEY_DUMP,
	KEY_METHOD,
	KEY_RESCTRL_ROOT,
	KEY_RMIDS,
	KEY_TOP,
	KEY_TRACE
};

#define COUNTERS "cycles, instructions, llc-misses, llc-references, branch-misses, page-faults"
#define COUNTERS_HELP \
	"Perf events to read, up to 4 of " COUNTERS ", or none (default: the first three)"

const struct argp_option rmid_options[] = {
	{ "counters", KEY_COUNTERS, "LIST", 0, COUNTERS_HELP, 0 },
	{ "dump", KEY_DUMP, 0, 0, "At the end print who has which RMID, no table", 0 },
	{ "method", KEY_METHOD, "NAME", 0, "Use only this method: module, resctrl or switches", 0 },
	{ "resctrl-root", KEY_RESCTRL_ROOT, "DIR", OPTION_HIDDEN, 0, 0 },
	{ "rmids", KEY_RMIDS, "N", 0, "Emulate N RMIDs, or make N groups of resctrl", 0 },
	{ "top", KEY_TOP, "N", 0, "Show this many processes (10)", 0 },
	{ "trace", KEY_TRACE, 0, 0, "Print each allocation of an RMID, not the table", 0 },
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
	"  latscope rmid --cgroup web.slice -d 5s    only its processes get groups of resctrl\n"
	"  latscope rmid --rmids 8 --trace -d 5s     how 8 emulated RMIDs are reused\n"
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

int rmid__check(struct rmid_command *command)
{
	struct options *options = command->options;
	bool own = command->config.dump || command->config.trace;

	if (own && (options->csv || options->json || options->interval_ns))
		return options__fail(options, "--dump and --trace have a format of their own; "
					      "leave out --csv, --json and -i");
	command->config.selects =
		options->target.pid || options->target.cgroup || options->target.comm;
	if (command->config.rmids && options->method && !strcmp(options->method, "module"))
		return options__fail(options, "--rmids is for the methods resctrl and switches");
	return 0;
}

error_t rmid__parse(struct rmid_command *command, int key, char *arg)
{
	uint64_t value = 0;
	int err;

	switch (key) {
	case KEY_COUNTERS:
		return set_counters(command, arg);
	case KEY_DUMP:
		command->config.dump = stdout;
		return 0;
	case KEY_TRACE:
		command->config.trace = stdout;
		return 0;
	case KEY_RMIDS:
		err = options__count(command->options, "--rmids", arg, 1, LATSCOPE_RMID_MAX,
				     &value);
		command->config.rmids = (uint32_t)value;
		return err;
	case KEY_RESCTRL_ROOT:
		command->config.resctrl_root = arg;
		return 0;
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
