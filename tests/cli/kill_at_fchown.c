// SPDX-License-Identifier: BSD-2-Clause
/* With LD_PRELOAD: a process that gives a file to another user than root kills its parent. */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t first;

__attribute__((constructor)) static void begin(void)
{
	first = getpid();
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	int err = (int)syscall(SYS_fchown, fd, uid, gid);

	if (uid && getpid() != first)
		kill(first, SIGKILL);
	return err;
}
