// SPDX-License-Identifier: BSD-2-Clause
#include "signals.h"

#include <errno.h>
#include <sys/signalfd.h>

/*
 * SIGHUP: the terminal was closed; if nohup has it ignored, it stays so. SIGPIPE: the reader of
 * latscope's output exited.
 */
static void list(sigset_t *set)
{
	struct sigaction hangup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGPIPE);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

int signals__hold(sigset_t *before)
{
	sigset_t set;
	int fd;

	list(&set);
	if (sigprocmask(SIG_BLOCK, &set, before))
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
