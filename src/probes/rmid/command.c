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
	const char *method;
	unsigned int top;
	bool dump, trace;
};

#define COUNTERS "cycles, instructions, llc-misses, llc-references, branch-misses, page-faults"
#define COUNTERS_HELP \
	"Perf events to read, up to 4 of " COUNTERS ", or none (default: the first three)"

static int set_counters(struct options *options, void *own, const char *list)
{
	struct rmid_command *command = own;

	command->config.counters = 0;
	command->config.counters_optional = false;
	if (!strcmp(list, "none"))
		return 0;
	switch (counters__parse(list, &command->config.counters)) {
	case 0:
		return 0;
	case -E2BIG:
		return options__fail(options, "--counters '%s': %d at most", list, RMID_COUNTERS);
	default:
		return options__fail(
			options, "--counters '%s': unknown counter; use none, or some of " COUNTERS,
			list);
	}
}

#define OWN struct rmid_command

/* COUNTERS, for the completion. */
static const char *const counter_names[] = { "cycles",	      "instructions",
					     "llc-misses",    "llc-references",
					     "branch-misses", "page-faults",
					     "none",	      NULL };

static const struct option_row rmid_rows[] = {
	{ "counters", 0, "LIST", COUNTERS_HELP, OPT_CALL(set_counters), .choices = counter_names },
	{ "dump", 0, NULL, "At the end print who has which RMID, no table", OPT_FLAG(dump) },
	{ "method", 0, "NAME", "Use only this method: module, resctrl or switches",
	  OPT_TEXT(method) },
	{ "resctrl-root", 0, "DIR", NULL, OPT_TEXT(config.resctrl_root) },
	{ "rmids", 0, "N", "Emulate N RMIDs, or make N groups of resctrl",
	  OPT_COUNT(config.rmids, 1, LATSCOPE_RMID_MAX) },
	{ "top", 0, "N", "Show this many processes (10)", OPT_COUNT(top, 1, MAX_TOP) },
	{ "trace", 0, NULL, "Print each allocation of an RMID, not the table", OPT_FLAG(trace) },
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

static void *new_command(void)
{
	struct rmid_command *command = calloc(1, sizeof(*command));

	if (!command)
		return NULL;
	command->config.counters = (1U << COUNTERS_DEFAULT) - 1;
	command->config.counters_optional = true;
	command->top = OPTIONS_TOP;
	return command;
}

/* What --dump and --trace ask for. */
static bool prints(const void *own)
{
	const struct rmid_command *command = own;

	return command->dump || command->trace;
}

static int check(struct options *options, void *own)
{
	struct rmid_command *command = own;

	options->method = command->method;
	options->top = command->top;
	command->config.dump = command->dump ? stdout : NULL;
	command->config.trace = command->trace ? stdout : NULL;
	if (prints(own) && (options->csv || options->json || options->interval_ns))
		return options__fail(options, "--dump and --trace have a format of their own; "
					      "leave out --csv, --json and -i");
	command->config.selects =
		options->target.pid || options->target.cgroup || options->target.comm;
	if (command->config.rmids && options->method && !strcmp(options->method, "module"))
		return options__fail(options, "--rmids is for the methods resctrl and switches");
	return 0;
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
	.usage = { .groups = PROBE_COMMAND_GROUPS | OPTIONS_PROCESS | OPTIONS_WORKLOAD,
		   .rows = rmid_rows,
		   .args = "[-- WORKLOAD ARG...]",
		   .doc = rmid_doc,
		   .takes_workload = true,
		   .check = check },
	.new = new_command,
	.prints = prints,
	.with = "rmid",
	.with_help = "Also CPU time and caches by process and millisecond",
	.unfiltered = "rmid measures all processes",
	.examine = examine,
};
