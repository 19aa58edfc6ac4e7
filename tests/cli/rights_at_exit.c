// SPDX-License-Identifier: BSD-2-Clause
/* With LD_PRELOAD: a program that exits says on stderr "NAME CapPrm:" and its capabilities. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

__attribute__((destructor)) static void say(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "CapPrm:", 7))
			fprintf(stderr, "%s %s", program_invocation_short_name, line);
	if (status)
		fclose(status);
}
