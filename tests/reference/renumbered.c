// SPDX-License-Identifier: BSD-2-Clause
/*
 * renumbered [-w]: a page fault that fails, so that perf events show its start only. The thread
 * that has it then executes another program, by which it gets the ID of the process instead of its
 * own. It has no further fault in between.
 *
 * Reference: failed=, how many failed.
 */

#include "reference.h"

static void *fail_and_execute(void *unused)
{
	char *const arguments[] = { "sh", "-c", "echo done=1; read -r line", NULL };

	/* The kernel reads the first argument where there is no memory. */
	reference_must(syscall(SYS_execve, "/bin/sh", (char **)sizeof(long), NULL) == -1 &&
			       errno == EFAULT,
		       "execve: %m");
	execv("/bin/sh", arguments);
	reference_die(REFERENCE_FAILED, "cannot execute /bin/sh: %m");
}

int main(int argc, char **argv)
{
	pthread_t thread;

	reference_arguments(argc, argv, 0, "renumbered [-w]");
	reference_open();
	printf("failed=1\n");
	fflush(stdout);
	thread = reference_thread(fail_and_execute, NULL);
	pthread_join(thread, NULL);
	return REFERENCE_FAILED; /* the program that is executed ends instead */
}
