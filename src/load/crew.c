// SPDX-License-Identifier: BSD-2-Clause
#include "crew.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SEC 1000000000ULL

struct crew {
	pid_t pids[LOAD_MAX_TASKS]; /* 0: reaped */
	unsigned int nr;
	unsigned int alive;
	int start[2]; /* a pipe; its end releases the children */
	sigset_t signals; /* that are waited for, and so blocked */
	sigset_t old_mask;
	struct sigaction old_child;
};

uint64_t crew__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

void crew__pause(const struct load_config *config)
{
	struct timespec rest = {
		.tv_sec = config->pause_ns / NS_PER_SEC,
		.tv_nsec = config->pause_ns % NS_PER_SEC,
	};

	if (config->pause_ns)
		nanosleep(&rest, NULL);
}

unsigned int crew__cpus(void)
{
	cpu_set_t set;

	/* EINVAL: more CPUs than a cpu_set_t holds. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set);
}

static void take_signals(struct crew *crew)
{
	struct sigaction child = { .sa_handler = SIG_DFL };

	sigemptyset(&crew->signals);
	sigaddset(&crew->signals, SIGINT);
	sigaddset(&crew->signals, SIGTERM);
	sigaddset(&crew->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &crew->signals, &crew->old_mask);
	/* Were it ignored, as it may be from our parent on, children would leave no status. */
	sigaction(SIGCHLD, &child, &crew->old_child);
}

static void give_back_signals(const struct crew *crew)
{
	sigaction(SIGCHLD, &crew->old_child, NULL);
	sigprocmask(SIG_SETMASK, &crew->old_mask, NULL);
}

static _Noreturn void run_child(const struct crew *crew, pid_t parent, crew_work work,
				const struct load_config *config, unsigned int index,
				const void *arg)
{
	char byte;
	int err;

	/* Nobody outlives a parent that is killed, not even one killed before the prctl(). */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &crew->signals, NULL);
	close(crew->start[1]);
	while (read(crew->start[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(crew->start[0]);
	err = work(config, index, arg);
	_exit(err < 0 ? -err : 0);
}

static int fork_all(struct crew *crew, crew_work work, const struct load_config *config,
		    const void *arg)
{
	pid_t parent = getpid(), pid;

	for (unsigned int i = 0; i < crew->nr; i++) {
		pid = fork();
		if (pid < 0)
			return -errno;
		if (!pid)
			run_child(crew, parent, work, config, i, arg);
		crew->pids[i] = pid;
		crew->alive++;
	}
	return 0;
}

/* They start together: else many would take the CPU from us before the last one is there. */
static int start(struct crew *crew, crew_work work, const struct load_config *config,
		 const void *arg)
{
	int err;

	if (pipe2(crew->start, O_CLOEXEC))
		return -errno;
	err = fork_all(crew, work, config, arg);
	close(crew->start[0]);
	close(crew->start[1]);
	return err;
}

static int error_of(int status)
{
	if (WIFEXITED(status))
		return -WEXITSTATUS(status);
	switch (WTERMSIG(status)) {
	case SIGINT: /* from the terminal, which sends it to all */
	case SIGTERM:
		return 0;
	default:
		return -ECANCELED;
	}
}

/* Only our own children: the process may have others. */
static int reap(struct crew *crew, int flags)
{
	int err = 0, status;

	for (unsigned int i = 0; i < crew->nr; i++) {
		if (!crew->pids[i] || waitpid(crew->pids[i], &status, flags) != crew->pids[i])
			continue;
		crew->pids[i] = 0;
		crew->alive--;
		if (!err)
			err = error_of(status);
	}
	return err;
}

/* Until the time is up, a signal says so, a child failed or all have ended. */
static int watch(struct crew *crew, uint64_t duration_ns)
{
	uint64_t end = crew__now() + duration_ns, now;
	int err = 0, got;

	while (!err && crew->alive) {
		struct timespec left;

		now = crew__now();
		if (now >= end)
			break;
		left.tv_sec = (end - now) / NS_PER_SEC;
		left.tv_nsec = (end - now) % NS_PER_SEC;
		got = sigtimedwait(&crew->signals, NULL, &left);
		if (got == SIGINT || got == SIGTERM)
			break;
		err = reap(crew, WNOHANG);
	}
	return err;
}

static void kill_all(const struct crew *crew, int signal_nr)
{
	for (unsigned int i = 0; i < crew->nr; i++)
		if (crew->pids[i])
			kill(crew->pids[i], signal_nr);
}

static int stop(struct crew *crew)
{
	kill_all(crew, SIGTERM);
	kill_all(crew, SIGCONT); /* a stopped one would not end */
	return reap(crew, 0);
}

int crew__run(unsigned int nr, crew_work work, const struct load_config *config, const void *arg)
{
	struct crew crew = { .nr = nr < LOAD_MAX_TASKS ? nr : LOAD_MAX_TASKS };
	int err, stop_err;

	take_signals(&crew);
	err = start(&crew, work, config, arg);
	if (!err)
		err = watch(&crew, config->duration_ns);
	stop_err = stop(&crew);
	give_back_signals(&crew);
	return err ? err : stop_err;
}
