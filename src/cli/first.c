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

void first__next(bool probes, bool privileges)
{
	if (!probes)
		printf("No probe of record runs on this kernel. They run on that of this package:\n"
		       "Next: %sapt install linux-image-%s\n",
		       sudo(), host__not_x86() ? "arm64" : "amd64");
	else if (!privileges)
		puts("Next: man latscope    (section PRIVILEGES says what the user needs)");
	else
		printf("Next: %s%s\n", sudo(), program());
}
