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
};

static int set_model(struct options *options, void *at, const char *text)
{
	const struct tier_model **model = at;
	char names[RUN_TEXT] = "";

	*model = tier_model__find(text);
	if (*model)
		return 0;
	for (size_t i = 0; tier_models[i]; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", tier_models[i]->name);
	return options__fail(options, "--model '%.32s': unknown model; choose from %s", text,
			     names);
}

static int set_root(struct options *options, void *own, const char *text)
{
	struct tierlat_command *command = own;

	(void)options;
	command->config.counters.root = command->config.act.root = text;
	return 0;
}

static int set_cpus(struct options *options, void *own, const char *text)
{
	struct tierlat_command *command = own;
	int nr = sysfs_cpus__parse(text, command->cpus, TIER_SOCKETS);

	if (nr < 0)
		return options__fail(
			options,
			"--cpu '%.64s': invalid list; give one CPU per socket, such as 0,32", text);
	command->config.counters.cpus = command->cpus;
	command->config.counters.nr_cpus = (unsigned int)nr;
	return 0;
}

static int set_share(struct options *options, void *at, const char *text)
{
	double share;
	char *end;

	share = strtod(text, &end);
	if (end != text && *end == '%') {
		share /= 100;
		end++;
	}
	*(double *)at = share;
	if (end != text && !*end && share > 0 && share <= 1)
		return 0;
	return options__fail(options, "--%s '%.32s': invalid number; use one above 0 and up to 1",
			     options->parsed, text);
}

#define OWN struct tierlat_command
static const char *const methods[] = { "perf", "msr", NULL }; /* as enum tier_method */

/* The names of act_methods[], for the completion. */
static const char *const act_names[] = { "move_pages", "weighted-interleave", "damon", NULL };

static const struct option_row tierlat_rows[] = {
	{ "tier", 0, "LIST", "These tiers, or all (default: those that the machine has)",
	  OPT_TEXT(config.counters.tiers) },
	{ "weight", 0, "W", "Weight of one interval in the moving average (0.0625)",
	  OPT_CALL_ON(set_share, config.rows.weight) },
	{ "min-inserts", 0, "N", "No latency from fewer requests than N (100)",
	  OPT_COUNT(config.counters.min_inserts, 1, 1ULL << 40) },
	{ "delta", 0, "D", "Colloid: ignore differences up to this share (0.05)",
	  OPT_CALL_ON(set_share, config.rows.colloid.delta) },
	{ "epsilon", 0, "E", "Colloid: restart a search narrower than this (0.01)",
	  OPT_CALL_ON(set_share, config.rows.colloid.epsilon) },
	{ "max-shift", 0, "S", "Colloid: move at most this share per interval (0.02)",
	  OPT_CALL_ON(set_share, config.rows.max_shift) },
	{ "raw", 0, NULL, "Add the counts of each CHA to --csv, --json, -o",
	  OPT_FLAG(config.rows.raw) },
	{ "per-cha", 0, NULL, "Also show each CHA", OPT_FLAG(config.per_cha) },
	{ "pages", 0, NULL, "Also show whose pages are in which tier", OPT_FLAG(config.pages) },
	{ "decisions", 0, "FILE", "Append what Colloid would move to FILE", OPT_TEXT(decisions) },
	{ "method", 0, "NAME", "perf or msr (default: what works here)",
	  OPT_CHOICE(config.counters.method, TIER_PERF, methods,
		     "unknown method; use perf or msr") },
	{ "take", 0, NULL, "msr: also use counters that are in use",
	  OPT_FLAG(config.counters.take) },
	{ "reset", 0, NULL, "msr: reset the counters to their power-on state, and exit",
	  OPT_FLAG(reset) },
	{ "boxes", 0, "N", "msr: number of CHAs per socket",
	  OPT_COUNT(config.counters.boxes, 1, TIER_BOXES) },
	{ "cpu", 0, "LIST", "msr: read on these CPUs, one per socket", OPT_CALL(set_cpus) },
	{ "msr-root", 0, "DIR", "msr: registers are in DIR/N/msr, not /dev/cpu",
	  OPT_TEXT(config.counters.msr_root) },
	{ "model", 0, "NAME", "Use the events and registers of this CPU model",
	  OPT_CALL_ON(set_model, config.counters.model) },
	{ "act", 0, "METHOD",
	  "Balance the latency of two tiers by move_pages, weighted-interleave or damon",
	  OPT_TEXT(config.act.method), .choices = act_names },
	{ "pid", 'p', "PID", "act: pages of this process",
	  OPT_COUNT(config.act.target.pid, 1, INT_MAX) },
	{ "cgroup", 0, "PATH", "act: of this cgroup (v2) and its descendants",
	  OPT_TEXT(config.act.target.cgroup) },
	{ "system", 0, NULL, "act: of all processes", OPT_FLAG(config.act.target.system) },
	{ "socket", 0, "N", "act: balance the tiers of this socket",
	  OPT_COUNT(config.act.socket, 0, INT_MAX) },
	{ "dry-run", 0, NULL, "act: say what would move, and move nothing",
	  OPT_FLAG(config.act.dry_run) },
	{ "keep", 0, NULL, "act: leave pages or weights as they are at the end",
	  OPT_FLAG(config.act.keep) },
	{ "sysfs-root", 0, "DIR", NULL, OPT_CALL(set_root) },
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

static void *new_command(void)
{
	struct tierlat_command *command = calloc(1, sizeof(*command));

	if (command)
		command->config = tierlat_defaults;
	return command;
}

static int check_act(struct options *options, const struct tierlat_command *command)
{
	const struct act_config *act = &command->config.act;
	int targets = !!act->target.pid + !!act->target.cgroup + act->target.system;
	const struct act_method *method = act->method ? act_method__find(act->method) : NULL;

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
static int check(struct options *options, void *own)
{
	const struct tierlat_command *command = own;
	const struct tier_config *config = &command->config.counters;
	char text[UNITS_TEXT];
	int err = check_act(options, command);

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
	*about = NULL;
	return methods[nth];
}

static void examine_acting(void)
{
	char why[TIER_TEXT];
	int err;

	for (size_t i = 0; act_methods[i]; i++) {
		err = act__look(act_methods[i], "", why);
		doctor__finding(" ", act_methods[i]->name, err ? "no" : "yes", why);
	}
}

/* Does not affect the exit status: record uses tierlat only with --tiers. */
static void examine(void)
{
	char why[TIER_TEXT], text[2 * TIER_TEXT];
	struct tier *tier;
	const char *todo;

	printf("\ntierlat (record --tiers): loaded latency of each memory tier\n");
	if (doctor__not_x86("all"))
		return;
	tier__capabilities(text, "");
	wrap__line(stdout, 4, 0, "%s", text);
	for (unsigned int i = 0; methods[i]; i++) {
		struct tier_config config = { .method = TIER_PERF + i, .look = true };

		if (tier__open(&tier, &config, why, &todo)) {
			snprintf(text, sizeof(text), "%s%s%s", why, todo ? "; " : "",
				 todo ? todo : "");
			doctor__finding(" ", methods[i], "no", text);
			continue;
		}
		snprintf(text, sizeof(text), "%s: %s", tier__model(tier)->title,
			 tier__mechanism(tier));
		doctor__finding(" ", methods[i], "yes", text);
		tier__close(tier, why);
	}
	examine_acting();
}

const struct probe_command tierlat_command = {
	.ops = &tierlat_probe,
	.usage = { .groups = PROBE_COMMAND_GROUPS,
		   .rows = tierlat_rows,
		   .doc = tierlat_doc,
		   .check = check },
	.new = new_command,
	.add_writer = add_writer,
	.acts = acts,
	.by_second = true,
	.with = "tiers",
	.with_help = "Also the latency of memory tiers (see tierlat)",
	.place = "MODEL:BOXES:DIR",
	.find = find,
	.examine = examine,
	.method = method,
};
