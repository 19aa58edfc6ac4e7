// SPDX-License-Identifier: BSD-2-Clause
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/sanitize.h>

#define ENDED '\001' /* sent to the parent when a recording has ended */

/* What the parent sends. It uses only send() and read(): seccomp.c refuses recv(), shutdown(). */
#define TOGGLE 't'
#define QUIT 'q'

/* In the process that waits: the recording that runs. */
struct waiting {
	int socket;
	char *const *argv;
	const sigset_t *mask; /* of signals, for the recording */
	pid_t child; /* 0: none */
};

static void run_recording(const struct waiting *waiting)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(waiting->socket, STDERR_FILENO) < 0)
		_exit(127);
	sigprocmask(SIG_SETMASK, waiting->mask, NULL);
	execv("/proc/self/exe", waiting->argv);
	_exit(127);
}

static void start_recording(struct waiting *waiting)
{
	pid_t child = fork();

	if (!child)
		run_recording(waiting);
	waiting->child = child > 0 ? child : 0;
}

/* Waits for the recording, if one runs; `wait` 0 or WNOHANG. */
static void reap_recording(struct waiting *waiting, int wait)
{
	const char ended = ENDED;

	if (!waiting->child || waitpid(waiting->child, NULL, wait) <= 0)
		return;
	waiting->child = 0;
	send(waiting->socket, &ended, 1, MSG_NOSIGNAL);
}

static void wait_for_orders(struct waiting *waiting)
{
	struct pollfd fds[2] = { { .fd = waiting->socket, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	struct signalfd_siginfo info;
	sigset_t all, ended;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	fds[1].fd = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	setsid();
	prctl(PR_SET_NAME, "latscope-rec");
	while (poll(fds, 2, -1) >= 0) {
		if (fds[1].revents && read(fds[1].fd, &info, sizeof(info)) > 0)
			reap_recording(waiting, WNOHANG);
		if (!fds[0].revents)
			continue;
		if (read(waiting->socket, &byte, 1) <= 0 || byte == QUIT)
			break;
		if (waiting->child)
			kill(waiting->child, SIGINT);
		else
			start_recording(waiting);
	}
	if (waiting->child)
		kill(waiting->child, SIGINT);
	reap_recording(waiting, 0);
	_exit(0);
}

int tui_recorder__begin(struct tui_recorder *recorder, char *const argv[])
{
	struct waiting waiting = { .argv = argv };
	sigset_t mask;
	int ends[2], err;

	recorder->socket = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	recorder->pid = fork();
	if (recorder->pid < 0) {
		err = -errno;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (!recorder->pid) {
		close(ends[1]);
		waiting.socket = ends[0];
		waiting.mask = &mask;
		wait_for_orders(&waiting);
	}
	close(ends[0]);
	recorder->socket = ends[1];
	fcntl(recorder->socket, F_SETFL, O_NONBLOCK);
	return 0;
}

static int order(const struct tui_recorder *recorder, char what)
{
	return send(recorder->socket, &what, 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int tui_recorder__toggle(const struct tui_recorder *recorder)
{
	return recorder->socket < 0 ? -ENOENT : order(recorder, TOGGLE);
}

/* Keeps the last line of the text. */
static void take_text(char *text, char line[RUN_TEXT], bool *ended)
{
	char *next;

	for (; text && *text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		if (*text == ENDED) {
			*ended = true;
			text++;
		}
		if (*text)
			sanitize__text(line, RUN_TEXT, text);
	}
}

bool tui_recorder__read(const struct tui_recorder *recorder, char line[RUN_TEXT], bool *ended)
{
	char text[4096];
	ssize_t got;

	if (recorder->socket < 0)
		return false;
	while ((got = read(recorder->socket, text, sizeof(text) - 1)) > 0) {
		text[got] = '\0';
		take_text(text, line, ended);
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

void tui_recorder__end(struct tui_recorder *recorder)
{
	char text[4096];
	ssize_t got;

	if (recorder->socket < 0)
		return;
	order(recorder, QUIT);
	fcntl(recorder->socket, F_SETFL, 0);
	while ((got = read(recorder->socket, text, sizeof(text) - 1)) > 0) {
		bool ended = false;
		char line[RUN_TEXT] = "";

		text[got] = '\0';
		take_text(text, line, &ended);
		if (line[0])
			fprintf(stderr, "%s\n", line);
	}
	close(recorder->socket);
	recorder->socket = -1;
	while (waitpid(recorder->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
