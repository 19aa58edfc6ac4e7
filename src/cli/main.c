// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <print/streams.h>

#include "cmd.h"
#include "complete.h"
#include "first.h"
#include "log.h"
#include "version.h"

static const struct command {
	const char *name;
	int (*function)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "record", cmd_record, "measure page faults, run queue and block I/O at the same time" },
	{ "memlat", cmd_record, "page faults: time the kernel takes to handle them" },
	{ "runqlat", cmd_record, "run queue: time that runnable tasks wait for a CPU" },
	{ "iolat", cmd_record, "block I/O: time that requests are queued and in the device" },
	{ "softirq", cmd_record, "softirqs: time that their handlers run, by vector" },
	{ "rmid", cmd_record,
	  "per-process CPU time, cache occupancy and memory bandwidth, every ms" },
	{ "ringlat", cmd_ringlat,
	  "user/kernel crossings: cost of entering and leaving the kernel" },
	{ "tierlat", cmd_record, "memory tiers: loaded latency of each, and what to migrate" },
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

static void help(FILE *out)
{
	fprintf(out, "Usage: latscope COMMAND [OPTION...] [-- WORKLOAD ARG...]\n"
		     "Latency of memory, CPU and disk on Linux, as distributions.\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\n"
		     "Run 'latscope COMMAND --help' for the options of a command.\n\n"
		     "  sudo latscope record -d 10s -o runs/ -- ./workload\n"
		     "  sudo latscope runqlat --by process -d 5s\n"
		     "  latscope report runs/20260102T030405Z\n");
}

/* The words of the line after "latscope"; the last one is to be completed. */
static int complete(int argc, char **argv)
{
	char *command[] = { argv[0], NULL };

	if (argc == 1 || (argc == 2 && !strcmp(argv[0], "help")))
		for (size_t i = 0; i < NR_COMMANDS; i++)
			complete__offer(argv[argc - 1], commands[i].name, commands[i].help);
	if (argc == 1) {
		complete__offer(argv[0], "help", "print the commands, or the options of one");
		complete__offer(argv[0], "--help", "print the commands");
		complete__offer(argv[0], "--version", "print the version");
		return EXIT_DONE;
	}
	complete__start(argv + 1, argc - 1);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[0], commands[i].name))
			return commands[i].function(1, command);
	return EXIT_DONE;
}

/* The options of a command: latscope help record. */
static int help_of(char *command)
{
	char *argv[] = { command, "--help", NULL };

	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(command, commands[i].name))
			return commands[i].function(2, argv);
	log__error(command, "unknown command", "see 'latscope --help'");
	return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		if (isatty(STDERR_FILENO))
			first__steps();
		else
			help(stderr);
		return EXIT_USAGE;
	}
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
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].function(argc - 1, argv + 1);
	log__error(argv[1], "unknown command", "see 'latscope --help'");
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int code, err;

	streams__open();
	code = run(argc, argv);
	err = streams__flush();
	if (err) {
		log__error("cannot write to standard output", strerror(-err), NULL);
		code = EXIT_ERROR;
	}
	return code;
}
