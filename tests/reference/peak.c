// SPDX-License-Identifier: BSD-2-Clause
/* peak FILE PROGRAM [ARG...]: runs it, writes its most resident kB to FILE, ends as it did. */

#include "reference.h"

int main(int argc, char **argv)
{
	struct rusage usage;
	FILE *file;
	int status;
	pid_t pid;

	if (argc < 3)
		return REFERENCE_USAGE;
	pid = fork();
	if (!pid) {
		execvp(argv[2], &argv[2]);
		_exit(127);
	}
	reference_must(pid >= 0 && wait4(pid, &status, 0, &usage) == pid, "%s does not start",
		       argv[2]);
	file = fopen(argv[1], "w");
	reference_must(file && fprintf(file, "%ld\n", usage.ru_maxrss) >= 0 && !fclose(file),
		       "%s cannot be written", argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
