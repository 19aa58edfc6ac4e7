// SPDX-License-Identifier: BSD-2-Clause
/* storm FORKS PROGRAM [ARG...]: forks so many processes that end at once, then becomes it. */

#include "reference.h"

int main(int argc, char **argv)
{
	long forks = argc > 2 ? atol(argv[1]) : 0;

	if (forks <= 0)
		return REFERENCE_USAGE;
	for (long i = 0; i < forks; i++) {
		pid_t pid = reference_fork();

		if (!pid)
			_exit(0);
		reference_must(waitpid(pid, NULL, 0) == pid, "no process %ld", i);
	}
	execvp(argv[2], &argv[2]);
	reference_die(REFERENCE_FAILED, "%s does not start", argv[2]);
}
