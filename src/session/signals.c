// SPDX-License-Identifier: BSD-2-Clause
#include "signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static void carry_on(int signal)
{
	(void)signal;
}

void signals__survive_size_limit(void)
{
	const struct sigaction action = { .sa_handler = carry_on, .sa_flags = SA_RESTART };

	sigaction(SIGXFSZ, &action, NULL);
}

#define FIRST_OF_THREADS 32

/* As the kernel has it: libc's sigaction() refuses these signals. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

void signals__note_ignored(bool ignored[SIGNALS_OF_THREADS])
{
	for (int i = 0; i < SIGNALS_OF_THREADS; i++) {
		struct action action = { 0 };

		ignored[i] = !syscall(SYS_rt_sigaction, FIRST_OF_THREADS + i, NULL, &action,
				      sizeof(action.mask)) &&
			     action.handler == SIG_IGN;
	}
}

void signals__ignore_again(const bool ignored[SIGNALS_OF_THREADS])
{
	const struct action action = { .handler = SIG_IGN };

	for (int i = 0; i < SIGNALS_OF_THREADS; i++)
		if (ignored[i])
			syscall(SYS_rt_sigaction, FIRST_OF_THREADS + i, &action, NULL,
				sizeof(action.mask));
}
