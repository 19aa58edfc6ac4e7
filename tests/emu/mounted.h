/* SPDX-License-Identifier: BSD-2-Clause */
/* An emulator, which is a program that serves a FUSE file system with a file `ctl`. */
#ifndef LATSCOPE_TESTS_MOUNTED_H
#define LATSCOPE_TESTS_MOUNTED_H

#include "../unit/unit.h"

#define CANNOT_MOUNT 4 /* exit status, libfuse's */

/* Below unit.h's dir; `command` may be NULL. Without FUSE, exits and has all tests skipped. */
static inline pid_t mounted_start(const char *program, const char *at, const char *command)
{
	pid_t server = unit_fork();
	int status = 0;

	if (!server) {
		execl(program, program, at, command, (char *)NULL);
		_exit(127);
	}
	for (unsigned int i = 0; i < 2000; i++) {
		if (!access(unit_path(at, "ctl"), F_OK))
			return server;
		if (waitpid(server, &status, WNOHANG) == server)
			break;
		usleep(10000);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != CANNOT_MOUNT)
		fail_msg("%s does not serve", program);
	puts("1..0 # SKIP a FUSE file system, as the emulator is, cannot be mounted here");
	unit_remove(dir);
	exit(0);
}

/* Returns the status of the server. */
static inline int mounted_end(pid_t server)
{
	int status;

	kill(server, SIGTERM);
	waitpid(server, &status, 0);
	return status;
}

#endif
