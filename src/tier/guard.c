// SPDX-License-Identifier: BSD-2-Clause
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct guard {
	pid_t pid;
	int socket; /* a byte: all is well; its end: we are gone */
};

/* What ends us, a Ctrl-C or the session's end, must not end the guard. */
static void stand_guard(int socket, void (*undo)(void *arg), void *arg)
{
	sigset_t all;
	ssize_t got;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "latscope-guard");
	do {
		got = read(socket, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got == 0)
		undo(arg);
	_exit(0);
}

int guard__begin(struct guard **guard, void (*undo)(void *arg), void *arg)
{
	struct guard *made = calloc(1, sizeof(*made));
	int ends[2], err;

	if (!made)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		goto err_free;
	}
	made->pid = fork();
	if (made->pid < 0) {
		err = -errno;
		goto err_close;
	}
	if (!made->pid) {
		close(ends[1]);
		stand_guard(ends[0], undo, arg);
	}
	close(ends[0]);
	made->socket = ends[1];
	*guard = made;
	return 0;

err_close:
	close(ends[0]);
	close(ends[1]);
err_free:
	free(made);
	return err;
}

void guard__end(struct guard *guard)
{
	if (!guard)
		return;
	/* Fails if the guard itself was killed: none is to be told, but one to be reaped. */
	send(guard->socket, "", 1, MSG_NOSIGNAL);
	close(guard->socket);
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(guard);
}
