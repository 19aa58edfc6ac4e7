// SPDX-License-Identifier: BSD-2-Clause
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process group of its own: Ctrl-C reaches only us, and then the child once. */
static _Noreturn void become(const struct child_rules *rules, const char *file, char *const argv[])
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(rules->log, STDOUT_FILENO) < 0 ||
	    dup2(rules->log, STDERR_FILENO) < 0)
		_exit(127);
	sigprocmask(SIG_SETMASK, rules->mask, NULL);
	execvp(file, argv);
	_exit(127);
}

static bool signal_arrived(int signals)
{
	struct signalfd_siginfo info;

	return read(signals, &info, sizeof(info)) == sizeof(info);
}

static int wait_for(const struct child_rules *rules, pid_t child, int ended, int *status)
{
	struct pollfd fds[2] = { { .fd = ended, .events = POLLIN },
				 { .fd = rules->signals, .events = POLLIN } };
	int err = 0;

	while (!(fds[0].revents & POLLIN)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (!(fds[1].revents & POLLIN) || !signal_arrived(rules->signals))
			continue;
		err = -EINTR;
		kill(-child, SIGINT);
	}
	if (waitpid(child, status, 0) < 0)
		return -errno;
	return signal_arrived(rules->signals) ? -EINTR : err;
}

int child__run(const struct child_rules *rules, const char *file, char *const argv[], int *status)
{
	pid_t child = fork();
	int ended, err;

	if (child < 0)
		return -errno;
	if (!child)
		become(rules, file, argv);
	setpgid(child, child);
	ended = (int)syscall(SYS_pidfd_open, child, 0);
	if (ended < 0) {
		err = -errno;
		kill(child, SIGKILL);
		waitpid(child, status, 0);
		return err;
	}
	err = wait_for(rules, child, ended, status);
	close(ended);
	return err;
}
