// SPDX-License-Identifier: BSD-2-Clause
#include "uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif

static char source[TRUTH_PAGE] __attribute__((aligned(4096))) = { 1 };

static int open_uffd(struct truth_uffd *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };

	/* Needs no privilege, and only user code will fault here. */
	uffd->fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (uffd->fd < 0 && errno == EINVAL)
		uffd->fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd->fd < 0 || ioctl(uffd->fd, UFFDIO_API, &api))
		return truth__fail(uffd->why, -EOPNOTSUPP, "no userfaultfd: %s", strerror(errno));
	return 0;
}

static int fill(struct truth_uffd *uffd, uint64_t address)
{
	struct uffdio_copy copy = {
		.dst = address & ~(TRUTH_PAGE - 1),
		.src = (uintptr_t)source,
		.len = TRUTH_PAGE,
	};

	/* EAGAIN: the address space is changing at the moment. */
	while (ioctl(uffd->fd, UFFDIO_COPY, &copy))
		if (errno != EAGAIN)
			return truth__fail(uffd->why, -errno, "cannot fill a page: %s",
					   strerror(errno));
	return 0;
}

static int answer(struct truth_uffd *uffd)
{
	struct uffd_msg message;

	if (read(uffd->fd, &message, sizeof(message)) != sizeof(message) ||
	    message.event != UFFD_EVENT_PAGEFAULT)
		return truth__fail(uffd->why, -EIO, "userfaultfd told of no fault");
	truth__sleep(uffd->delay_ns);
	return fill(uffd, message.arg.pagefault.address);
}

static void *handle(void *arg)
{
	struct truth_uffd *uffd = arg;
	struct truth_faults before = truth__faults(RUSAGE_THREAD);

	for (size_t i = 0; !uffd->handler_err && i < uffd->pages; i++)
		uffd->handler_err = answer(uffd);
	uffd->handler = truth__faults_since(RUSAGE_THREAD, before);
	if (uffd->handler_err)
		close(uffd->fd); /* lets the writer go on */
	return NULL;
}

/* The thread is made here: its stack is to be locked too. */
int truth_uffd__prepare(struct truth_uffd *uffd)
{
	int err = open_uffd(uffd);

	if (err)
		return err;
	err = truth__thread(&uffd->thread, handle, uffd);
	return err ? truth__fail(uffd->why, err, "cannot make a thread") : 0;
}

static int enlist(struct truth_uffd *uffd, const char *map)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)map, .len = uffd->pages * TRUTH_PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(uffd->fd, UFFDIO_REGISTER, &reg))
		return truth__fail(uffd->why, -EOPNOTSUPP, "cannot register with userfaultfd: %s",
				   strerror(errno));
	return 0;
}

static void touch(struct truth_uffd *uffd, volatile char *map)
{
	struct truth_faults before = truth__faults(RUSAGE_THREAD);
	uint64_t start;

	for (size_t i = 0; i < uffd->pages; i++) {
		start = truth__now();
		map[i * TRUTH_PAGE] = 1;
		truth__add(&uffd->touches, truth__now() - start);
	}
	uffd->faults = truth__faults_since(RUSAGE_THREAD, before);
}

int truth_uffd__run(struct truth_uffd *uffd)
{
	char *map = truth__map(uffd->pages);
	int err;

	if (!map)
		return truth__fail(uffd->why, -errno, "cannot map %zu pages: %s", uffd->pages,
				   strerror(errno));
	err = enlist(uffd, map);
	if (err)
		return err;
	touch(uffd, map);
	pthread_join(uffd->thread, NULL);
	if (uffd->handler_err)
		return uffd->handler_err;
	if (uffd->faults.minor + uffd->faults.major != (long)uffd->pages)
		return truth__fail(uffd->why, -EIO, "%zu pages touched, but %ld faults",
				   uffd->pages, uffd->faults.minor + uffd->faults.major);
	return 0;
}
