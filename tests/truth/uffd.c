// SPDX-License-Identifier: BSD-2-Clause
/*
 * uffd [-w] PAGES DELAY_MS: page faults of a known latency.
 *
 * The main thread writes once to each of PAGES fresh pages registered with userfaultfd(2); a
 * second thread lets DELAY_MS (fractions allowed) pass for each before it fills the page in. So
 * the process has exactly PAGES faults in the window of -w, all of the main thread (tid), none
 * shorter than delay_ns and, but for the entry to the kernel and the exit, each as long as the
 * writer saw it: touch_min_ns, touch_mean_ns, touch_max_ns, touch_sum_ns.
 *
 * It is also the truth for retried faults: handle_mm_fault() sleeps for the delay, returns
 * VM_FAULT_RETRY and is called again to find the page there, so each fault takes two calls at
 * least, and the latency is in the first. Kernels call the fault minor or major according to the
 * lock that the first call held (whether the second one carries FAULT_FLAG_TRIED): only the sum is
 * a truth.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "truth.h"

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif

struct uffd {
	int fd;
	size_t pages;
	uint64_t delay_ns;
	struct truth_faults handler; /* its own: none */
};

static char source[TRUTH_PAGE] __attribute__((aligned(4096))) = { 1 };

static int uffd_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	/* Needs no privilege, and only user code will fault here. */
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		truth_die(TRUTH_CANNOT, "no userfaultfd: %s", strerror(errno));
	return fd;
}

static void uffd_register(int fd, const char *map, size_t pages)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)map, .len = pages * TRUTH_PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(fd, UFFDIO_REGISTER, &reg))
		truth_die(TRUTH_CANNOT, "cannot register with userfaultfd: %s", strerror(errno));
}

static void fill(int fd, uint64_t address)
{
	struct uffdio_copy copy = {
		.dst = address & ~(TRUTH_PAGE - 1),
		.src = (uintptr_t)source,
		.len = TRUTH_PAGE,
	};

	/* EAGAIN: the address space is changing at the moment. */
	while (ioctl(fd, UFFDIO_COPY, &copy))
		if (errno != EAGAIN)
			truth_die(TRUTH_FAILED, "cannot fill a page: %s", strerror(errno));
}

static void *handle(void *arg)
{
	struct uffd *uffd = arg;
	struct truth_faults before = truth_faults(RUSAGE_THREAD);
	struct uffd_msg message;

	for (size_t i = 0; i < uffd->pages; i++) {
		if (read(uffd->fd, &message, sizeof(message)) != sizeof(message) ||
		    message.event != UFFD_EVENT_PAGEFAULT)
			truth_die(TRUTH_FAILED, "userfaultfd told of no fault");
		truth_sleep(uffd->delay_ns);
		fill(uffd->fd, message.arg.pagefault.address);
	}
	uffd->handler = truth_since(RUSAGE_THREAD, before);
	return NULL;
}

static void touch(volatile char *map, size_t pages)
{
	uint64_t min = UINT64_MAX, max = 0, sum = 0;

	for (size_t i = 0; i < pages; i++) {
		uint64_t start = truth_now(), took;

		map[i * TRUTH_PAGE] = 1;
		took = truth_now() - start;
		min = took < min ? took : min;
		max = took > max ? took : max;
		sum += took;
	}
	printf("touch_min_ns=%llu touch_mean_ns=%llu touch_max_ns=%llu touch_sum_ns=%llu\n",
	       (unsigned long long)min, (unsigned long long)(sum / pages), (unsigned long long)max,
	       (unsigned long long)sum);
}

static void run(struct uffd *uffd, pthread_t handler)
{
	struct truth_faults before, faults;
	char *map = truth_map(uffd->pages);

	uffd_register(uffd->fd, map, uffd->pages);
	before = truth_faults(RUSAGE_THREAD);
	touch(map, uffd->pages);
	faults = truth_since(RUSAGE_THREAD, before);
	pthread_join(handler, NULL);
	printf("tid=%ld\npages=%zu\ndelay_ns=%llu\n", syscall(SYS_gettid), uffd->pages,
	       (unsigned long long)uffd->delay_ns);
	truth_print_faults("loop", faults);
	truth_print_faults("handler", uffd->handler);
	if (faults.minor + faults.major != (long)uffd->pages)
		truth_die(TRUTH_FAILED, "%zu pages touched, but %ld faults", uffd->pages,
			  faults.minor + faults.major);
}

int main(int argc, char **argv)
{
	struct truth_window window = {};
	struct uffd uffd = {};
	pthread_t handler;

	argv = truth_arguments(&window, argc, argv, 2, "uffd [-w] PAGES DELAY_MS");
	uffd.pages = truth_number(argv[0], "PAGES", 1, 1 << 20);
	uffd.delay_ns = truth_time(argv[1], "DELAY_MS", NSEC_PER_MSEC);
	truth_begin();
	uffd.fd = uffd_open();
	/* Before truth_open(): the thread's stack is to be locked too, and it blocks in read(). */
	handler = truth_thread(handle, &uffd);
	truth_open(&window);
	run(&uffd, handler);
	truth_close(&window);
	return 0;
}
