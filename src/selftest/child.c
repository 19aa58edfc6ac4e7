// SPDX-License-Identifier: BSD-2-Clause
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "validate.h"

static bool get_byte(int fd)
{
	ssize_t got;
	char byte;

	do {
		got = read(fd, &byte, 1);
	} while (got < 0 && errno == EINTR);
	return got == 1;
}

static int prepare(const struct child *child)
{
	const struct child_work *work = child->work;
	int err = work->prepare ? work->prepare(child->reference) : 0;

	if (err || !work->locks)
		return err;
	return reference__lock((char *)child->reference + work->why);
}

/* A byte reports that the work is done. Then it waits until it is killed. */
static _Noreturn void live(const struct child *child, int go, int done)
{
	struct child_shared *shared = child->shared;
	struct reference_faults before;

	shared->err = prepare(child);
	if (write(done, "", 1) != 1 || shared->err || !get_byte(go))
		_exit(1);
	before = reference__faults(RUSAGE_SELF);
	shared->err = child->work->run(child->reference);
	shared->faults = reference__faults_since(RUSAGE_SELF, before);
	if (write(done, "", 1) == 1)
		get_byte(go);
	_exit(0);
}

static int fork_child(struct child *child, const int go[2], const int done[2])
{
	pid_t parent = getpid();

	child->pid = fork();
	if (child->pid < 0)
		return -errno;
	if (child->pid)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close(go[1]);
	close(done[0]);
	live(child, go[0], done[1]);
}

static int share(struct child *child, const struct child_work *work, const void *asked)
{
	void *map = mmap(NULL, sizeof(*child->shared) + work->size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return -errno;
	child->work = work;
	child->shared = map;
	child->reference = child->shared->reference;
	memcpy(child->reference, asked, work->size);
	return 0;
}

static int start(struct child *child)
{
	int go[2], done[2], err;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(done, O_CLOEXEC)) {
		err = -errno;
		goto close_go;
	}
	err = fork_child(child, go, done);
	close(go[0]);
	close(done[1]);
	child->go = go[1];
	child->done = done[0];
	return err;

close_go:
	close(go[0]);
	close(go[1]);
	return err;
}

int child__start(struct child *child, const struct child_work *work, const void *asked)
{
	int err;

	memset(child, 0, sizeof(*child));
	err = share(child, work, asked);
	if (err)
		return err;
	err = start(child);
	return err ? err : child__result(child);
}

int child__go(const struct child *child)
{
	return write(child->go, "", 1) == 1 ? 0 : -errno;
}

int child__result(struct child *child)
{
	struct pollfd fds[2] = { { .fd = child->done, .events = POLLIN },
				 { .fd = interrupt__fd(), .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (interrupt__came())
		return -EINTR;
	return get_byte(child->done) ? child->shared->err : -ECHILD;
}

const char *child__why(const struct child *child, int err)
{
	const char *why = child->reference ? (char *)child->reference + child->work->why : "";

	if (err == -ECHILD)
		return "the measured process died";
	return why[0] ? why : strerror(-err);
}

void child__end(struct child *child)
{
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	close(child->go);
	close(child->done);
	child->pid = 0;
}

void child__free(struct child *child)
{
	child__end(child);
	if (child->shared)
		munmap(child->shared, sizeof(*child->shared) + child->work->size);
	child->shared = NULL;
}
