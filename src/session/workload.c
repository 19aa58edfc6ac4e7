// SPDX-License-Identifier: BSD-2-Clause
#include "workload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_GRACE_MS 2000

static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

int workload__find(const char *name)
{
	const char *dirs = getenv("PATH"), *end;
	char path[PATH_MAX];
	int err = -ENOENT, got;

	if (strchr(name, '/') || !dirs)
		return executable(name);
	for (; *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(path, sizeof(path), "%.*s/%s", (int)(end - dirs), dirs, name);
		got = executable(path);
		if (!got)
			return 0;
		if (got == -EACCES)
			err = got;
	}
	return err;
}

int workload__find_user(struct workload_user *user, const char *name)
{
	const struct passwd *found;

	if (geteuid())
		return -EPERM;
	errno = 0;
	found = getpwnam(name);
	if (!found)
		return errno ? -errno : -ENOENT;
	*user = (struct workload_user){ name, found->pw_uid, found->pw_gid };
	return 0;
}

/* With all groups of the user. The environment stays, as with strace -u. */
static int become(const struct workload_user *user)
{
	if (!user->name)
		return 0;
	if (initgroups(user->name, user->gid) || setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return -1;
	return 0;
}

/*
 * Closes the descriptors that exec would close. Until exec is done, which may take long on a slow
 * file system, this process would keep our BPF programs attached.
 */
static void close_ours(int go, int result)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd;

	while (dir && (entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (fd > STDERR_FILENO && fd != go && fd != result && fd != dirfd(dir) &&
		    fcntl(fd, F_GETFD) & FD_CLOEXEC)
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/* The child: waits for a byte, then becomes the command. If the parent died, none comes. */
static _Noreturn void child(int go, int result, char *const argv[],
			    const struct workload_origin *origin, const struct workload_user *user)
{
	ssize_t got;
	char byte;
	int err;

	close_ours(go, result);
	do {
		got = read(go, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(127);
	signals__ignore_again(origin->ignored);
	sigprocmask(SIG_SETMASK, &origin->mask, NULL);
	setrlimit(RLIMIT_NOFILE, &origin->files);
	if (!become(user))
		execvp(argv[0], argv);
	err = errno;
	if (write(result, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

int workload__prepare(struct workload *workload, char *const argv[],
		      const struct workload_origin *origin, const struct workload_user *user)
{
	int go[2], result[2], err;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(result, O_CLOEXEC)) {
		err = -errno;
		goto close_go;
	}
	workload->pid = fork();
	if (workload->pid < 0) {
		err = -errno;
		goto close_result;
	}
	if (!workload->pid) {
		close(go[1]);
		child(go[0], result[1], argv, origin, user);
	}
	workload->ended = syscall(SYS_pidfd_open, workload->pid, 0);
	if (workload->ended < 0) {
		err = -errno;
		goto kill_child;
	}
	close(go[0]);
	close(result[1]);
	workload->go = go[1];
	workload->result = result[0];
	return 0;

kill_child:
	kill(workload->pid, SIGKILL);
	waitpid(workload->pid, NULL, 0);
close_result:
	close(result[0]);
	close(result[1]);
close_go:
	close(go[0]);
	close(go[1]);
	workload->pid = 0;
	return err;
}

void workload__cancel(struct workload *workload)
{
	if (!workload->pid)
		return;
	close(workload->go);
	close(workload->result);
	waitpid(workload->pid, NULL, 0);
	close(workload->ended);
	workload->pid = 0;
}

int workload__release(struct workload *workload)
{
	int err = 0;
	ssize_t got;

	got = write(workload->go, "", 1); /* fails if it was killed; `ended` shows that */
	close(workload->go);
	do {
		got = read(workload->result, &err, sizeof(err)); /* end of file: exec closed it */
	} while (got < 0 && errno == EINTR);
	close(workload->result);
	if (got != sizeof(err))
		return 0;
	waitpid(workload->pid, NULL, 0);
	close(workload->ended);
	workload->pid = 0;
	return -err;
}

bool workload__reap(struct workload *workload, int *status)
{
	if (waitpid(workload->pid, status, WNOHANG) != workload->pid)
		return false;
	close(workload->ended);
	workload->pid = 0;
	return true;
}

int workload__end(struct workload *workload)
{
	struct pollfd ended = { .fd = workload->ended, .events = POLLIN };
	int status;

	kill(workload->pid, SIGTERM);
	if (poll(&ended, 1, TERM_GRACE_MS) <= 0)
		kill(workload->pid, SIGKILL);
	waitpid(workload->pid, &status, 0);
	close(workload->ended);
	workload->pid = 0;
	return status;
}
