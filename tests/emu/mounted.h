/* SPDX-License-Identifier: BSD-2-Clause */
/* An emulator, which is a program that serves a FUSE file system with a file `ctl`. */
#ifndef LATSCOPE_TESTS_MOUNTED_H
#define LATSCOPE_TESTS_MOUNTED_H

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "../unit/unit.h"

/* In a mount namespace of its own, which ends with it. */
static inline bool mounted_possible(void)
{
	char options[64];
	pid_t child = fork();
	int fd, status;

	if (!child) {
		fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
		snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
		_exit(fd < 0 || unshare(CLONE_NEWNS) ||
		      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		      mount("latscope", "/tmp", "fuse", 0, options));
	}
	return waitpid(child, &status, 0) == child && !status;
}

__attribute__((constructor)) static void mounted_need(void)
{
	if (!mounted_possible())
		unit_skip_all("a FUSE file system, as the emulator is, cannot be mounted here");
}

/* Below unit.h's dir; `command` may be NULL. */
static inline pid_t mounted_start(const char *program, const char *at, const char *command)
{
	pid_t server = unit_fork();

	if (!server) {
		execl(program, program, at, command, (char *)NULL);
		_exit(127);
	}
	for (unsigned int i = 0; i < 2000; i++) {
		if (!access(unit_path(at, "ctl"), F_OK))
			return server;
		if (waitpid(server, NULL, WNOHANG) == server)
			break;
		usleep(10000);
	}
	fail_msg("%s does not serve", program);
	return -1;
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
