// SPDX-License-Identifier: BSD-2-Clause
#include "restore.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct restore {
	pid_t pid;
	int socket; /* a byte: nothing left to do; end of file: the parent is gone */
};

/* Returns true if there is something left to do. */
static bool wait_for_end(int socket, const struct restore_ops *ops, void *arg)
{
	ssize_t got;
	char byte;

	if (ops->serve) {
		ops->serve(arg, socket);
		return true;
	}
	do {
		got = read(socket, &byte, 1);
	} while (got < 0 && errno == EINTR);
	return got == 0;
}

/* A Ctrl-C, or the end of the terminal session, ends the parent and must not end this process. */
static void wait_to_restore(int socket, const struct restore_ops *ops, void *arg)
{
	int err = 0;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "latscope-undo");
	if (ops->settle)
		ops->settle(arg, socket);
	if (wait_for_end(socket, ops, arg))
		err = ops->undo(arg);
	_exit(err < 0 && err >= -UINT8_MAX ? -err : err ? EIO : 0);
}

int restore__begin(struct restore **restore, const struct restore_ops *ops, void *arg)
{
	struct restore *made = calloc(1, sizeof(*made));
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
		wait_to_restore(ends[0], ops, arg);
	}
	close(ends[0]);
	made->socket = ends[1];
	*restore = made;
	return 0;

err_close:
	close(ends[0]);
	close(ends[1]);
err_free:
	free(made);
	return err;
}

int restore__socket(const struct restore *restore)
{
	return restore->socket;
}

int restore__end(struct restore *restore, bool undone)
{
	int status = 0;
	pid_t pid;

	if (!restore)
		return 0;
	/* Fails if the restore process was killed: then it only has to be reaped. */
	if (undone)
		send(restore->socket, "", 1, MSG_NOSIGNAL);
	close(restore->socket);
	do {
		pid = waitpid(restore->pid, &status, 0);
	} while (pid < 0 && errno == EINTR);
	free(restore);
	if (undone)
		return 0;
	return pid > 0 && WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}
