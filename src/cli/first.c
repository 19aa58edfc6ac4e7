// SPDX-License-Identifier: BSD-2-Clause
#include "first.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <host/host.h>

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"
#define LINE 256

/* As it was called, such as .output/latscope, unless a shell would need quotes for that. */
static const char *program(void)
{
	const char *name = program_invocation_name;

	return name[strspn(name, PLAIN)] || strlen(name) > LINE / 2 ? "latscope" : name;
}

/* Empty for root that did not come by sudo: a container may have none. */
static const char *sudo(void)
{
	return geteuid() || getenv("SUDO_UID") ? "sudo " : "";
}

void first__steps(void)
{
	static const struct {
		const char *arguments, *question;
	} steps[] = {
		{ "doctor", "what can this machine measure?" },
		{ "record -d 10s", "measure for ten seconds" },
		{ "why -d 10s", "what was slow, and who caused it?" },
	};
	char line[LINE];
	int width = snprintf(line, sizeof(line), "%s%s record -d 10s", sudo(), program());

	fputs("latscope measures how long page faults, waits for a CPU and block I/O take.\n\n",
	      stderr);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		snprintf(line, sizeof(line), "%s%s %s", sudo(), program(), steps[i].arguments);
		fprintf(stderr, "  %-*s     %s\n", width, line, steps[i].question);
	}
	fprintf(stderr,
		"\n'%s --help' lists the commands, 'man latscope' has a five-minute tutorial.\n",
		program());
}

void first__next(bool probes, bool privileges)
{
	if (!probes)
		printf("No probe of record runs on this kernel. They run on that of this package:\n"
		       "Next: %sapt install linux-image-%s\n",
		       sudo(), host__not_x86() ? "arm64" : "amd64");
	else if (!privileges)
		puts("Next: man latscope    (section PRIVILEGES says what the user needs)");
	else
		printf("Next: %s%s record -d 10s\n", sudo(), program());
}
