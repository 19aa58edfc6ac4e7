// SPDX-License-Identifier: BSD-2-Clause
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives.h"

struct workers {
	workers_work work;
	const struct load_config *config;
	const void *arg;
	pid_t pids[LOAD_MAX_TASKS]; /* 0: reaped */
	unsigned int nr;
	unsigned int alive;
	int start[2]; /* a pipe; closing it starts the children */
	sigset_t signals; /* blocked, and waited for */
	sigset_t old_mask;
	struct sigaction old_child;
};

void workers__pause(const struct load_config *config)
{
	if (config->pause_ns)
		load__sleep(config->pause_ns);
}

static void take_signals(struct workers *workers)
{
	struct sigaction child = { .sa_handler = SIG_DFL };

	sigemptyset(&workers->signals);
	sigaddset(&workers->signals, SIGINT);
	sigaddset(&workers->signals, SIGTERM);
	sigaddset(&workers->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &workers->signals, &workers->old_mask);
	/* The parent process may have ignored it: then children would leave no exit status. */
	sigaction(SIGCHLD, &child, &workers->old_child);
}

static _Noreturn void run_child(const struct workers *workers, pid_t parent, unsigned int index)
{
	char byte;
	int err;

	/* End with the parent, even if it was killed before the prctl(). */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &workers->signals, NULL);
	close(workers->start[1]);
	while (read(workers->start[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(workers->start[0]);
	err = workers->work(workers->config, index, workers->arg);
	_exit(err < 0 ? -err : 0);
}

static int fork_all(struct workers *workers)
{
	pid_t parent = getpid(), pid;

	for (unsigned int i = 0; i < workers->nr; i++) {
		pid = fork();
		if (pid < 0)
			return -errno;
		if (!pid)
			run_child(workers, parent, i);
		workers->pids[i] = pid;
		workers->alive++;
	}
	return 0;
}

/*
 * The children start together: otherwise the first ones would take the CPU from the parent before
 * the last fork.
 */
static int start(struct workers *workers)
{
	int err;

	if (pipe2(workers->start, O_CLOEXEC))
		return -errno;
	err = fork_all(workers);
	close(workers->start[0]);
	close(workers->start[1]);
	return err;
}

static int error_of(int status)
{
	if (WIFEXITED(status))
		return -WEXITSTATUS(status);
	switch (WTERMSIG(status)) {
	case SIGINT: /* the terminal sends it to all processes */
	case SIGTERM:
		return 0;
	default:
		return -ECANCELED;
	}
}

/* Only the children started here: the process may have others. */
static int reap(struct workers *workers, int flags)
{
	int err = 0, status;

	for (unsigned int i = 0; i < workers->nr; i++) {
		if (!workers->pids[i] ||
		    waitpid(workers->pids[i], &status, flags) != workers->pids[i])
			continue;
		workers->pids[i] = 0;
		workers->alive--;
		if (!err)
			err = error_of(status);
	}
	return err;
}

/* Until the time is up, a signal arrives, a child fails or all have ended. */
static int watch(struct workers *workers)
{
	uint64_t end = clock__now_ns() + workers->config->duration_ns, now;
	int err = 0;

	while (!err && workers->alive && (now = clock__now_ns()) < end) {
		struct timespec left = clock__timespec(end - now);
		int got = sigtimedwait(&workers->signals, NULL, &left);

		if (got == SIGINT || got == SIGTERM)
			break;
		err = reap(workers, WNOHANG);
	}
	return err;
}

static int stop(struct workers *workers)
{
	for (unsigned int i = 0; i < workers->nr; i++) {
		if (!workers->pids[i])
			continue;
		kill(workers->pids[i], SIGTERM);
		kill(workers->pids[i], SIGCONT); /* a stopped child would not end */
	}
	return reap(workers, 0);
}

int workers__run(unsigned int nr, workers_work work, const struct load_config *config,
		 const void *arg)
{
	struct workers workers = { .work = work,
				   .config = config,
				   .arg = arg,
				   .nr = nr < LOAD_MAX_TASKS ? nr : LOAD_MAX_TASKS };
	int err, stop_err;

	take_signals(&workers);
	err = start(&workers);
	if (!err)
		err = watch(&workers);
	stop_err = stop(&workers);
	sigaction(SIGCHLD, &workers.old_child, NULL);
	sigprocmask(SIG_SETMASK, &workers.old_mask, NULL);
	return err ? err : stop_err;
}
