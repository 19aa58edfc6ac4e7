// SPDX-License-Identifier: BSD-2-Clause
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif

#define AT_ONCE 512 /* faults that share one delay */

struct reference_uffd_writer {
	struct reference_uffd *uffd;
	size_t first, step; /* of its pages */
	pthread_t thread;
	struct reference_faults faults;
	struct reference_span touches;
};

static char source[LOAD_PAGE_MAX];

int reference_uffd__open(struct reference_uffd *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };

	/* Needs no privilege, and only user code will fault here. */
	uffd->fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (uffd->fd < 0 && errno == EINVAL)
		uffd->fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd->fd < 0 || ioctl(uffd->fd, UFFDIO_API, &api))
		return reference__fail(uffd->why, -EOPNOTSUPP, "cannot use userfaultfd: %s",
				       strerror(errno));
	return 0;
}

int reference_uffd__fill(struct reference_uffd *uffd, uint64_t address)
{
	struct uffdio_copy copy = {
		.dst = address & ~(load__page() - 1),
		.src = (uintptr_t)source,
		.len = load__page(),
	};

	/* EAGAIN: the address space is changing at the moment. */
	while (ioctl(uffd->fd, UFFDIO_COPY, &copy))
		if (errno != EAGAIN)
			return reference__fail(uffd->why, -errno, "cannot fill a page: %s",
					       strerror(errno));
	return 0;
}

/* Answers all faults that wait. Returns their number, or -errno. */
static int answer(struct reference_uffd *uffd)
{
	struct uffd_msg messages[AT_ONCE];
	ssize_t got = read(uffd->fd, messages, sizeof(messages));
	int err = 0, count = (int)(got / (ssize_t)sizeof(*messages));

	if (got <= 0)
		return reference__fail(uffd->why, -EIO, "userfaultfd reported no fault");
	load__sleep(uffd->delay_ns);
	for (int i = 0; !err && i < count; i++)
		err = messages[i].event == UFFD_EVENT_PAGEFAULT
			      ? reference_uffd__fill(uffd, messages[i].arg.pagefault.address)
			      : reference__fail(uffd->why, -EIO, "userfaultfd reported no fault");
	return err ? err : count;
}

static void *handle(void *arg)
{
	struct reference_uffd *uffd = arg;
	struct reference_faults before = reference__faults(RUSAGE_THREAD);
	int got = 0;

	for (size_t i = 0; got >= 0 && i < uffd->pages; i += (size_t)got)
		got = answer(uffd);
	uffd->handler_err = got < 0 ? got : 0;
	uffd->handler_tid = gettid();
	uffd->handler = reference__faults_since(RUSAGE_THREAD, before);
	if (uffd->handler_err)
		close(uffd->fd); /* ends the faults of the writers */
	return NULL;
}

/* Threads pause between faults: so faults begin and end while others wait. */
static void touch(struct reference_uffd_writer *writer)
{
	struct reference_faults before = reference__faults(RUSAGE_THREAD);
	uint64_t start, seed = load__seed(0, (unsigned int)writer->first);
	volatile char *map = writer->uffd->map;

	for (size_t i = writer->first; i < writer->uffd->pages; i += writer->step) {
		start = clock__now_ns();
		map[i * load__page()] = 1;
		reference__add(&writer->touches, clock__now_ns() - start);
		if (writer->uffd->threads)
			load__sleep(load__random(&seed) % (2 * writer->uffd->delay_ns + 1));
	}
	writer->faults = reference__faults_since(RUSAGE_THREAD, before);
}

static void *write_pages(void *arg)
{
	struct reference_uffd_writer *writer = arg;

	pthread_barrier_wait(&writer->uffd->start);
	touch(writer);
	return NULL;
}

static int make_writers(struct reference_uffd *uffd)
{
	int err;

	uffd->writers = calloc(uffd->threads ? uffd->threads : 1, sizeof(*uffd->writers));
	if (!uffd->writers)
		return -ENOMEM;
	uffd->writers[0] = (struct reference_uffd_writer){ .uffd = uffd, .step = 1 };
	pthread_barrier_init(&uffd->start, NULL, uffd->threads + 1);
	for (unsigned int i = 0; i < uffd->threads; i++) {
		uffd->writers[i] = (struct reference_uffd_writer){ .uffd = uffd,
								   .first = i,
								   .step = uffd->threads };
		err = load__thread(&uffd->writers[i].thread, write_pages, &uffd->writers[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Creates the threads here, so that their stacks are locked, too. */
int reference_uffd__prepare(struct reference_uffd *uffd)
{
	int err = reference_uffd__open(uffd);

	if (err)
		return err;
	err = make_writers(uffd);
	if (!err)
		err = load__thread(&uffd->thread, handle, uffd);
	return err ? reference__fail(uffd->why, err, "cannot create a thread") : 0;
}

int reference_uffd__map(struct reference_uffd *uffd)
{
	struct uffdio_register reg = {
		.range = { .len = uffd->pages * load__page() },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	uffd->map = load__map(uffd->pages);
	if (!uffd->map)
		return reference__fail(uffd->why, -errno, "cannot map %zu pages: %s", uffd->pages,
				       strerror(errno));
	reg.range.start = (uintptr_t)uffd->map;
	if (ioctl(uffd->fd, UFFDIO_REGISTER, &reg))
		return reference__fail(uffd->why, -EOPNOTSUPP,
				       "cannot register with userfaultfd: %s", strerror(errno));
	return 0;
}

static void write_all(struct reference_uffd *uffd)
{
	if (!uffd->threads)
		touch(&uffd->writers[0]);
	else
		pthread_barrier_wait(&uffd->start);
	for (unsigned int i = 0; i < uffd->threads; i++)
		pthread_join(uffd->writers[i].thread, NULL);
	pthread_join(uffd->thread, NULL);
	for (unsigned int i = 0; i < uffd->threads || !i; i++) {
		uffd->faults.minor += uffd->writers[i].faults.minor;
		uffd->faults.major += uffd->writers[i].faults.major;
		reference__merge(&uffd->touches, &uffd->writers[i].touches);
	}
}

int reference_uffd__run(struct reference_uffd *uffd)
{
	int err = reference_uffd__map(uffd);

	if (err)
		return err;
	write_all(uffd);
	if (uffd->handler_err)
		return uffd->handler_err;
	if (uffd->faults.minor + uffd->faults.major != (long)uffd->pages)
		return reference__fail(uffd->why, -EIO, "%zu pages touched, but %ld faults",
				       uffd->pages, uffd->faults.minor + uffd->faults.major);
	return 0;
}
