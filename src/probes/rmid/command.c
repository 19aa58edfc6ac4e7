// SPDX-License-Identifier: BSD-2-Clause
/* `latscope rmid`, and what rmid has in other commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include <cli/doctor.h>
#include <cli/probe_command.h>
#include <uapi/latscope/rmid.h>

#include "conflict.h"
#include "counters.h"
#include "rmid.h"

#define MAX_TOP 1000000

struct rmid_command {
	struct rmid_config config; /* first; by default the usual counters that this CPU has */
	struct options *options;
};

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

static const struct argp_option rmid_options[] = {
	{ "counters", KEY_COUNTERS, "LIST", 0, COUNTERS_HELP, 0 },
	{ "dump", KEY_DUMP, 0, 0, "At the end print who has which RMID, no table", 0 },
	{ "method", KEY_METHOD, "NAME", 0, "Use only this method: module, resctrl or switches", 0 },
	{ "resctrl-root", KEY_RESCTRL_ROOT, "DIR", OPTION_HIDDEN, 0, 0 },
	{ "rmids", KEY_RMIDS, "N", 0, "Emulate N RMIDs, or make N groups of resctrl", 0 },
	{ "top", KEY_TOP, "N", 0, "Show this many processes (10)", 0 },
	{ "trace", KEY_TRACE, 0, 0, "Print each allocation of an RMID, not the table", 0 },
	{ 0 },
};

static const char rmid_doc[] =
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

static void *new_command(struct options *options)
{
	struct rmid_command *command = calloc(1, sizeof(*command));

	if (!command)
		return NULL;
	command->config.counters = (1U << COUNTERS_DEFAULT) - 1;
	command->config.counters_optional = true;
	command->options = options;
	return command;
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

static int check(void *own)
{
	struct rmid_command *command = own;
	struct options *options = command->options;
	bool prints = command->config.dump || command->config.trace;

	if (prints && (options->csv || options->json || options->interval_ns))
		return options__fail(options, "--dump and --trace have a format of their own; "
					      "leave out --csv, --json and -i");
	command->config.selects =
		options->target.pid || options->target.cgroup || options->target.comm;
	if (command->config.rmids && options->method && !strcmp(options->method, "module"))
		return options__fail(options, "--rmids is for the methods resctrl and switches");
	return 0;
}

static error_t parse(void *own, int key, char *arg)
{
	struct rmid_command *command = own;
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

/* What --dump and --trace ask for. */
static bool prints(const void *own)
{
	const struct rmid_command *command = own;

	return command->config.dump || command->config.trace;
}

static void examine(void)
{
	const struct conflict *conflict = conflict__find("");
	char text[RUN_TEXT];

	if (!conflict)
		return;
	snprintf(text, sizeof(text), "another tool is using RDT: %s; %s", conflict->why,
		 conflict->todo);
	doctor__finding("!", "RDT", "in use", text);
}

const struct probe_command rmid_command = {
	.ops = &rmid_probe,
	.options = rmid_options,
	.doc = rmid_doc,
	.groups = OPTIONS_PROCESS | OPTIONS_WORKLOAD,
	.new = new_command,
	.parse = parse,
	.check = check,
	.prints = prints,
	.with = "rmid",
	.with_help = "Also CPU time and caches by process and millisecond",
	.unfiltered = "rmid measures all processes",
	.examine = examine,
};
