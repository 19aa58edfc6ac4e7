// SPDX-License-Identifier: BSD-2-Clause
#include "validate.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int signals = -1;
static bool came;

/* nohup ignores SIGHUP: then closing the terminal must not end us. */
static bool is_ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

int interrupt__hold(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGQUIT);
	if (!is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals < 0 ? -errno : 0;
}

int interrupt__fd(void)
{
	return signals;
}

bool interrupt__came(void)
{
	struct signalfd_siginfo info;

	if (signals >= 0 && read(signals, &info, sizeof(info)) == sizeof(info))
		came = true;
	return came;
}
