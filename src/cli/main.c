// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include <print/streams.h>

#include "cmd.h"
#include "log.h"

static const struct command {
	const char *name;
	int (*function)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "record", cmd_record, "measure page faults, run queue and block I/O at the same time" },
	{ "memlat", cmd_record, "page faults: how long the kernel takes to handle them" },
	{ "runqlat", cmd_record, "run queue: how long runnable tasks wait for a CPU" },
	{ "iolat", cmd_record, "block I/O: how long requests are queued and with the device" },
	{ "softirq", cmd_record, "softirqs: how long their handlers run, by vector" },
	{ "rmid", cmd_record, "who has the CPUs and the caches, by process and millisecond" },
	{ "ringlat", cmd_ringlat, "ring crossings: what entering and leaving the kernel costs" },
	{ "tierlat", cmd_record, "memory: loaded latency of each tier, and what to move" },
	{ "report", cmd_report, "print a recording again" },
	{ "compare", cmd_compare, "is it worse? two sides, figure by figure, with intervals" },
	{ "validate", cmd_validate, "prove on this machine that the modules are right" },
	{ "doctor", cmd_doctor, "what this machine can measure, how, and what is missing" },
	{ "load", cmd_load, "make a known load: page faults, CPU hogs, ping-pong, direct I/O" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fprintf(out,
		"Usage: latscope COMMAND [OPTION...] [-- WORKLOAD ARG...]\n"
		"Where a Linux machine's time goes: memory, CPU and disk, as distributions.\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\n"
		     "'latscope COMMAND --help' explains a command.\n\n"
		     "  sudo latscope record -d 10s -o runs/ -- ./workload\n"
		     "  sudo latscope runqlat --by process -d 5s\n"
		     "  latscope report runs/20260102T030405Z\n");
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("latscope " LATSCOPE_VERSION);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].function(argc - 1, argv + 1);
	log__error(argv[1], "no such command", "'latscope --help' lists them");
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
