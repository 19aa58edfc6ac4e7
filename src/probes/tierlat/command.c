// SPDX-License-Identifier: BSD-2-Clause
/* `latscope tierlat`, and what tierlat has in other commands. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cli/cmd.h>
#include <cli/doctor.h>
#include <cli/log.h>
#include <cli/probe_command.h>
#include <core/units.h>
#include <print/streams.h>
#include <print/wrap.h>
#include <store/append_file.h>

#include "act.h"
#include "sysfs.h"
#include "tierlat.h"
#include "view.h"

#define LEAST_INTERVAL_NS 10000000ULL
/* a counter of 48 bits overflows after 39 minutes of a full queue */
#define MOST_INTERVAL_NS 600000000000ULL

struct tierlat_command {
	struct tierlat_config config; /* first */
	unsigned int cpus[TIER_SOCKETS];
	const char *decisions; /* a file for them; NULL: none */
	bool reset; /* reset the counters; measure nothing */
	struct options *options;
};

enum key {
	KEY_MODEL = 0x200,
	KEY_METHOD,
	KEY_MSR_ROOT,
	KEY_ROOT,
	KEY_CPU,
	KEY_BOXES,
	KEY_TIER,
	KEY_WEIGHT,
	KEY_MIN_INSERTS,
	KEY_DELTA,
	KEY_EPSILON,
	KEY_TAKE,
	KEY_RESET,
	KEY_MAX_SHIFT,
	KEY_RAW,
	KEY_DECISIONS,
	KEY_PER_CHA,
	KEY_PAGES,
	KEY_ACT,
	KEY_CGROUP,
	KEY_SYSTEM,
	KEY_SOCKET,
	KEY_DRY_RUN,
	KEY_KEEP,
};

static const struct argp_option tierlat_options[] = {
	{ "tier", KEY_TIER, "LIST", 0, "These tiers, or all (default: those that the machine has)",
	  0 },
	{ "weight", KEY_WEIGHT, "W", 0, "Weight of one interval in the moving average (0.0625)",
	  0 },
	{ "min-inserts", KEY_MIN_INSERTS, "N", 0, "No latency from fewer requests than N (100)",
	  0 },
	{ "delta", KEY_DELTA, "D", 0, "Colloid: ignore differences up to this share (0.05)", 0 },
	{ "epsilon", KEY_EPSILON, "E", 0, "Colloid: restart a search narrower than this (0.01)",
	  0 },
	{ "max-shift", KEY_MAX_SHIFT, "S", 0,
	  "Colloid: move at most this share per interval (0.02)", 0 },
	{ "raw", KEY_RAW, 0, 0, "Add the counts of each CHA to --csv, --json, -o", 0 },
	{ "per-cha", KEY_PER_CHA, 0, 0, "Also show each CHA", 0 },
	{ "pages", KEY_PAGES, 0, 0, "Also show whose pages are in which tier", 0 },
	{ "decisions", KEY_DECISIONS, "FILE", 0, "Append what Colloid would move to FILE", 0 },
	{ "method", KEY_METHOD, "NAME", 0, "perf or msr (default: what works here)", 0 },
	{ "take", KEY_TAKE, 0, 0, "msr: also use counters that are in use", 0 },
	{ "reset", KEY_RESET, 0, 0, "msr: reset the counters to their power-on state, and exit",
	  0 },
	{ "boxes", KEY_BOXES, "N", 0, "msr: number of CHAs per socket", 0 },
	{ "cpu", KEY_CPU, "LIST", 0, "msr: read on these CPUs, one per socket", 0 },
	{ "msr-root", KEY_MSR_ROOT, "DIR", 0, "msr: registers are in DIR/N/msr, not /dev/cpu", 0 },
	{ "model", KEY_MODEL, "NAME", 0, "Use the events and registers of this CPU model", 0 },
	{ "act", KEY_ACT, "METHOD", 0,
	  "Make the tiers equally slow by move_pages, weighted-interleave or damon", 0 },
	{ "pid", 'p', "PID", 0, "act: pages of this process", 0 },
	{ "cgroup", KEY_CGROUP, "PATH", 0, "act: of this cgroup (v2) and its descendants", 0 },
	{ "system", KEY_SYSTEM, 0, 0, "act: of all processes", 0 },
	{ "socket", KEY_SOCKET, "N", 0, "act: balance the tiers of this socket", 0 },
	{ "dry-run", KEY_DRY_RUN, 0, 0, "act: say what would move, and move nothing", 0 },
	{ "keep", KEY_KEEP, 0, 0, "act: leave pages or weights as they are at the end", 0 },
	{ "sysfs-root", KEY_ROOT, "DIR", OPTION_HIDDEN, 0, 0 },
	{ 0 },
};

static const char tierlat_doc[] =
	"Measures the mean latency of memory reads that miss the caches, by socket and tier "
	"(local DDR, remote DDR, persistent memory, CXL), under the present load, from the "
	"uncore counters of the caching and home agents (CHA). Prints what Colloid would move "
	"between two tiers; with --act, it moves pages.\v"
	"Examples:\n"
	"  sudo latscope tierlat -i 1s               one line per tier every second\n"
	"  sudo latscope tierlat -d 10s --csv        for a script\n"
	"  sudo latscope tierlat -d 1m -i 100ms -o runs/\n"
	"  sudo latscope tierlat --act move_pages --pid 1234 --dry-run -i 1s\n"
	"  sudo latscope tierlat --act weighted-interleave --system -i 1s\n"
	"  sudo latscope tierlat --act damon --cgroup NAME -i 2s\n"
	"  latscope tierlat --model icx --msr-root DIR --boxes 28\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

static void *new_command(struct options *options)
{
	struct tierlat_command *command = calloc(1, sizeof(*command));

	if (!command)
		return NULL;
	command->config = tierlat_defaults;
	command->options = options;
	return command;
}

static int parse_model(struct tierlat_command *command, const char *arg)
{
	char names[RUN_TEXT] = "";

	command->config.counters.model = tier_model__find(arg);
	if (command->config.counters.model)
		return 0;
	for (size_t i = 0; tier_models[i]; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", tier_models[i]->name);
	return options__fail(command->options, "--model '%.32s': unknown model; choose from %s",
			     arg, names);
}

static int parse_method(struct tierlat_command *command, const char *arg)
{
	if (!strcmp(arg, "perf"))
		command->config.counters.method = TIER_PERF;
	else if (!strcmp(arg, "msr"))
		command->config.counters.method = TIER_MSR;
	else
		return options__fail(command->options,
				     "--method '%.32s': unknown method; use perf or msr", arg);
	return 0;
}

static int parse_cpus(struct tierlat_command *command, const char *arg)
{
	int nr = sysfs_cpus__parse(arg, command->cpus, TIER_SOCKETS);

	if (nr < 0)
		return options__fail(
			command->options,
			"--cpu '%.64s': invalid list; give one CPU per socket, such as 0,32", arg);
	command->config.counters.cpus = command->cpus;
	command->config.counters.nr_cpus = (unsigned int)nr;
	return 0;
}

static int parse_share(struct tierlat_command *command, const char *name, const char *arg,
		       double *value)
{
	char *end;

	*value = strtod(arg, &end);
	if (end != arg && *end == '%') {
		*value /= 100;
		end++;
	}
	if (end != arg && !*end && *value > 0 && *value <= 1)
		return 0;
	return options__fail(command->options,
			     "%s '%.32s': invalid number; use one above 0 and up to 1", name, arg);
}

static int parse_numbers(struct tierlat_command *command, int key, const char *arg)
{
	struct options *options = command->options;
	uint64_t boxes = 0;
	int err;

	switch (key) {
	case KEY_BOXES:
		err = options__count(options, "--boxes", arg, 1, TIER_BOXES, &boxes);
		command->config.counters.boxes = (unsigned int)boxes;
		return err;
	case KEY_MIN_INSERTS:
		return options__count(options, "--min-inserts", arg, 1, 1ULL << 40,
				      &command->config.counters.min_inserts);
	case KEY_WEIGHT:
		return parse_share(command, "--weight", arg, &command->config.rows.weight);
	case KEY_DELTA:
		return parse_share(command, "--delta", arg, &command->config.rows.colloid.delta);
	case KEY_MAX_SHIFT:
		return parse_share(command, "--max-shift", arg, &command->config.rows.max_shift);
	case KEY_EPSILON:
		return parse_share(command, "--epsilon", arg,
				   &command->config.rows.colloid.epsilon);
	}
	return ARGP_ERR_UNKNOWN;
}

/* What to move, and of which processes. */
static int parse_act(struct tierlat_command *command, int key, char *arg)
{
	struct options *options = command->options;
	struct act_config *act = &command->config.act;
	uint64_t number = 0;
	int err;

	switch (key) {
	case KEY_ACT:
		act->method = arg;
		return 0;
	case KEY_CGROUP:
		act->target.cgroup = arg;
		return 0;
	case KEY_SYSTEM:
		act->target.system = true;
		return 0;
	case KEY_DRY_RUN:
		act->dry_run = true;
		return 0;
	case KEY_KEEP:
		act->keep = true;
		return 0;
	case 'p':
		err = options__count(options, "--pid", arg, 1, INT_MAX, &number);
		act->target.pid = (pid_t)number;
		return err;
	case KEY_SOCKET:
		err = options__count(options, "--socket", arg, 0, INT_MAX, &number);
		act->socket = (int)number;
		return err;
	}
	return parse_numbers(command, key, arg);
}

static error_t parse(void *own, int key, char *arg)
{
	struct tierlat_command *command = own;

	switch (key) {
	case KEY_MODEL:
		return parse_model(command, arg);
	case KEY_METHOD:
		return parse_method(command, arg);
	case KEY_MSR_ROOT:
		command->config.counters.msr_root = arg;
		return 0;
	case KEY_ROOT:
		command->config.counters.root = arg;
		command->config.act.root = arg;
		return 0;
	case KEY_CPU:
		return parse_cpus(command, arg);
	case KEY_TIER:
		command->config.counters.tiers = arg;
		return 0;
	case KEY_TAKE:
		command->config.counters.take = true;
		return 0;
	case KEY_RESET:
		command->reset = true;
		return 0;
	case KEY_PER_CHA:
		command->config.per_cha = true;
		return 0;
	case KEY_PAGES:
		command->config.pages = true;
		return 0;
	case KEY_DECISIONS:
		command->decisions = arg;
		return 0;
	case KEY_RAW:
		command->config.rows.raw = true;
		return 0;
	}
	return parse_act(command, key, arg);
}

static int check_act(const struct tierlat_command *command)
{
	const struct act_config *act = &command->config.act;
	int targets = !!act->target.pid + !!act->target.cgroup + act->target.system;
	const struct act_method *method = act->method ? act_method__find(act->method) : NULL;
	struct options *options = command->options;

	if (!act->method && (targets || act->dry_run || act->keep || act->socket >= 0))
		return options__fail(options, "--pid, --cgroup, --system, --socket, --dry-run and "
					      "--keep are for --act");
	if (!act->method)
		return 0;
	if (!method)
		return options__fail(options, "--act '%.32s': unknown method; use %s, %s or %s",
				     act->method, act_methods[0]->name, act_methods[1]->name,
				     act_methods[2]->name);
	if (targets != 1)
		return options__fail(options, "--act needs one of --pid, --cgroup and --system");
	if (method->no_pid && act->target.pid)
		return options__fail(options, "--act %s --pid: %s", method->name, method->no_pid);
	if (method->no_keep && act->keep)
		return options__fail(options, "--act %s %s: leave out --keep", method->name,
				     method->no_keep);
	if (act->dry_run && act->keep)
		return options__fail(options, "--dry-run moves nothing: leave out --keep");
	if (command->reset)
		return options__fail(options, "--reset measures nothing: leave out --act");
	return 0;
}

/* Refuses an option that only another method has. */
static int check(void *own)
{
	const struct tierlat_command *command = own;
	const struct tier_config *config = &command->config.counters;
	struct options *options = command->options;
	char text[UNITS_TEXT];
	int err = check_act(command);

	if (err)
		return err;
	if (config->method == TIER_PERF &&
	    (config->msr_root || config->cpus || config->boxes || config->take || command->reset))
		return options__fail(options, "--msr-root, --cpu, --boxes, --take and --reset are "
					      "for --method msr");
	if (command->reset && (options->interval_ns || options->duration_ns || options->output))
		return options__fail(options, "--reset measures nothing: leave out -d, -i and -o");
	if (command->config.rows.raw && !options->csv && !options->output &&
	    !(options->json && options->interval_ns))
		return options__fail(options, "--raw adds rows: use it with --csv, -o, or --json "
					      "and -i");
	/* The default model is this CPU's, which may not fit the registers in DIR. */
	if (config->msr_root && !config->model)
		return options__fail(
			options, "--msr-root needs --model: DIR does not say what CPU it is from");
	if (options->interval_ns && options->interval_ns < LEAST_INTERVAL_NS)
		return options__fail(options, "--interval %s is too short; use 10 ms or more",
				     units__duration(text, options->interval_ns));
	if (options->interval_ns > MOST_INTERVAL_NS)
		return options__fail(
			options,
			"--interval %s is too long; use 10 min or less, because counters wrap",
			units__duration(text, options->interval_ns));
	return 0;
}

static int add_writer(const void *own, struct recording *recording)
{
	const struct tierlat_command *command = own;
	char what[PATH_MAX + RUN_TEXT];
	struct writer *writer;
	FILE *file;
	int err;

	if (!command->decisions)
		return EXIT_DONE;
	err = append_file__open(&file, command->decisions, false);
	if (!err) {
		writer = recording__add(recording, &writer_decisions);
		writer->state = file;
		writer->shown = command->decisions;
		return EXIT_DONE;
	}
	snprintf(what, sizeof(what), "cannot write decisions to %s", command->decisions);
	log__error(what, append_file__explain(err), "choose another file");
	return EXIT_ERROR;
}

static int reset(const struct tierlat_command *command)
{
	char done[TIER_TEXT], why[TIER_TEXT];
	const char *todo;
	int err;

	err = tier__reset(&command->config.counters, done, why, &todo);
	if (err == -EINVAL) {
		log__usage("tierlat", why);
		return EXIT_USAGE;
	}
	if (err) {
		log__error("tierlat", why, todo);
		return err == -EOPNOTSUPP ? EXIT_CANNOT : EXIT_ERROR;
	}
	printf("%s\n", done);
	streams__flush();
	return EXIT_DONE;
}

static bool acts(const void *own, int *code)
{
	const struct tierlat_command *command = own;

	if (command->reset)
		*code = reset(command);
	return command->reset;
}

static int find(void *own, char *place)
{
	struct tierlat_command *command = own;

	return tier_config__parse(&command->config.counters, place);
}

static const char *method(unsigned int nth, const char **about)
{
	static const char *const names[] = { "perf", "msr", NULL };

	*about = NULL;
	return names[nth];
}

static const char *const *values(const char *option)
{
	static const char *names[8];

	for (size_t i = 0; act_methods[i] && i + 1 < sizeof(names) / sizeof(names[0]); i++)
		names[i] = act_methods[i]->name;
	return strcmp(option, "act") ? NULL : names;
}

static void examine_acting(void)
{
	char why[TIER_TEXT];
	int err;

	for (size_t i = 0; act_methods[i]; i++) {
		err = act__look(act_methods[i]->name, "", why);
		doctor__finding(" ", act_methods[i]->name, err ? "no" : "yes", why);
	}
}

/* Does not affect the exit status: record uses tierlat only with --tiers. */
static void examine(void)
{
	static const struct {
		const char *name;
		enum tier_method method;
	} methods[] = { { "perf", TIER_PERF }, { "msr", TIER_MSR } };
	char why[TIER_TEXT], text[2 * TIER_TEXT];
	struct wrap wrap = { 0 };
	struct tier *tier;
	const char *todo;

	printf("\ntierlat (record --tiers): loaded latency of each memory tier\n");
	if (doctor__not_x86("all"))
		return;
	tier__capabilities(text, "");
	wrap__add(&wrap, "%s", text);
	wrap__print(&wrap, stdout, 4, 0);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct tier_config config = { .method = methods[i].method, .look = true };

		if (tier__open(&tier, &config, why, &todo)) {
			snprintf(text, sizeof(text), "%s%s%s", why, todo ? "; " : "",
				 todo ? todo : "");
			doctor__finding(" ", methods[i].name, "no", text);
			continue;
		}
		snprintf(text, sizeof(text), "%s: %s", tier__model(tier)->title,
			 tier__mechanism(tier));
		doctor__finding(" ", methods[i].name, "yes", text);
		tier__close(tier, why);
	}
	examine_acting();
}

const struct probe_command tierlat_command = {
	.ops = &tierlat_probe,
	.options = tierlat_options,
	.doc = tierlat_doc,
	.has_no_workload = true,
	.new = new_command,
	.parse = parse,
	.check = check,
	.add_writer = add_writer,
	.acts = acts,
	.by_second = true,
	.with = "tiers",
	.with_help = "Also the latency of memory tiers (see tierlat)",
	.place = "MODEL:BOXES:DIR",
	.find = find,
	.examine = examine,
	.method = method,
	.values = values,
};
