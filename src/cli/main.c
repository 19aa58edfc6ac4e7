// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include <core/nearest.h>
#include <print/streams.h>
#include <session/signals.h>

#include "cmd.h"
#include "complete.h"
#include "complete_values.h"
#include "log.h"
#include "probe_command.h"
#include "version.h"

struct command {
	const char *name;
	int (*function)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
	{ "record", cmd_record, /* the first one: see list_commands() */
	  "measure page faults, run queue and block I/O at the same time" },
	{ "why", cmd_record, "why waits were slow: their parts, and who caused them" },
	{ "top", cmd_record, "the same live on one screen, and recordings step by step" },
	{ "report", cmd_report, "print a recording" },
	{ "compare", cmd_compare, "compare two groups of recordings" },
	{ "ab", cmd_ab, "run two sides in turn, and tell whether one is worse" },
	{ "validate", cmd_validate, "test the probes against known latencies on this machine" },
	{ "doctor", cmd_doctor, "show which methods work on this machine, and why others do not" },
	{ "serve", cmd_serve, "measure until stopped; export to Prometheus" },
	{ "snapshot", cmd_snapshot, "make a recording of what serve has kept" },
	{ "fleet", cmd_fleet, "many machines: the tables of serve --clickhouse" },
	{ "load", cmd_load, "generate a known load: page faults, CPU hogs, I/O, memory pressure" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define MOST_COMMANDS (NR_COMMANDS + RUN_PROBES)

static struct command of_probe(const struct probe_ops *ops)
{
	const struct probe_command *command = probe_command__of(ops);

	return (struct command){ ops->name, command->run ? command->run : cmd_record, ops->help };
}

/* The commands in the order of the help: those of the probes come after record. */
static size_t list_commands(struct command all[MOST_COMMANDS])
{
	size_t nr = 0;

	all[nr++] = commands[0];
	for (size_t i = 0; probe_list[i]; i++)
		all[nr++] = of_probe(probe_list[i]);
	for (size_t i = 1; i < NR_COMMANDS; i++)
		all[nr++] = commands[i];
	return nr;
}

static bool find_command(const char *name, struct command *command)
{
	struct command all[MOST_COMMANDS];
	size_t nr = list_commands(all);

	for (size_t i = 0; i < nr; i++) {
		*command = all[i];
		if (!strcmp(name, command->name))
			return true;
	}
	return false;
}

static void help(FILE *out)
{
	struct command all[MOST_COMMANDS];
	size_t nr = list_commands(all);

	fprintf(out, "Usage: latscope [-d TIME] [-p PID] [--comm NAME] [--cgroup PATH] [-o DIR]\n"
		     "  or:  latscope COMMAND [OPTION...] [-- WORKLOAD ARG...]\n"
		     "The first says after ten seconds what waits, because of whom. Commands:\n\n");
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "  %-9s %s\n", all[i].name, all[i].help);
	fprintf(out, "\n"
		     "Run 'latscope COMMAND --help' for the options of a command.\n\n"
		     "  sudo latscope\n"
		     "  sudo latscope --cgroup web.service\n"
		     "  sudo latscope record -d 10s -o runs/ -- ./workload\n"
		     "  sudo latscope runqlat --by process -d 5s\n"
		     "  latscope report runs/20260102T030405Z\n");
}

/* The words of the line after "latscope"; the last one is to be completed. */
static int complete(int argc, char **argv)
{
	char *line[] = { argv[0], NULL };
	struct command all[MOST_COMMANDS], command;
	size_t nr = list_commands(all);

	if (argc == 1 || (argc == 2 && !strcmp(argv[0], "help")))
		for (size_t i = 0; i < nr; i++)
			complete__offer(argv[argc - 1], all[i].name, all[i].help);
	if (argv[0][0] == '-') {
		if (argc == 1)
			complete__offer(argv[0], "--version", "print the version");
		complete__start(argv, argc);
		return cmd_answer(1, line);
	}
	if (argc == 1) {
		complete__offer(argv[0], "help", "print the commands, or the options of one");
		return EXIT_DONE;
	}
	complete__start(argv + 1, argc - 1);
	return find_command(argv[0], &command) ? command.function(1, line) : EXIT_DONE;
}

static int unknown(const char *name)
{
	struct command all[MOST_COMMANDS];
	size_t nr = list_commands(all);
	struct nearest nearest = { 0 };
	char todo[RUN_TEXT];

	for (size_t i = 0; i < nr; i++)
		nearest__add(&nearest, name, all[i].name);
	snprintf(todo, sizeof(todo), "did you mean '%s'?", nearest.name);
	log__error(name, "unknown command", nearest.name ? todo : "see 'latscope --help'");
	return EXIT_USAGE;
}

/* The options of a command: latscope help record. */
static int help_of(char *name)
{
	char *argv[] = { name, "--help", NULL };
	struct command command;

	if (find_command(name, &command))
		return command.function(2, argv);
	return unknown(name);
}

static int run(int argc, char **argv)
{
	struct command command;

	if (argc < 2)
		return cmd_answer(argc, argv);
	if (!strcmp(argv[1], "help") && argc > 2)
		return help_of(argv[2]);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		version__print(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--complete") && argc > 2)
		return complete(argc - 2, argv + 2);
	if (argv[1][0] == '-')
		return cmd_answer(argc, argv);
	if (find_command(argv[1], &command))
		return command.function(argc - 1, argv + 1);
	return unknown(argv[1]);
}

int main(int argc, char **argv)
{
	int code, err;

	signals__survive_size_limit();
	streams__open();
	code = run(argc, argv);
	err = streams__flush();
	if (err) {
		log__error("cannot write to standard output", strerror(-err), NULL);
		code = EXIT_ERROR;
	}
	return code;
}
