// SPDX-License-Identifier: BSD-2-Clause
/*
 * ordinary [shared|own]: ordinary work, with the ordinary results, by a thread that shares its CPU
 * with an owner that crosses without end, or that is an owner itself: demand-zero and copy-on-write
 * faults, forks, segmentation faults, the kernel's own faults on user memory.
 */
#include "client.h"

#define PAGES 16

/* Nothing is there. Not known to the compiler, which would warn. */
static void *volatile nowhere = (void *)16;

static bool pages_hold(const char *pages)
{
	for (int i = 0; i < PAGES; i++)
		if (pages[i * PAGE] != i)
			return false;
	return true;
}

/* The child writes to what it shares with its parent until then, and may end by a null pointer. */
static void child(char *pages, bool faults)
{
	if (!pages_hold(pages))
		_exit(9);
	memset(pages, 77, PAGES * PAGE);
	if (faults) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile int *)nowhere = 1;
	}
	_exit(0);
}

static void copy_on_write(bool faults)
{
	char *pages = map_pages(PAGES, PROT_READ | PROT_WRITE);
	int status = 0, i;
	pid_t pid;

	for (i = 0; i < PAGES; i++)
		pages[i * PAGE] = (char)i;
	pid = fork();
	if (!pid)
		child(pages, faults);
	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(faults ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV : !status);
	EXPECT(pages_hold(pages));
	munmap(pages, PAGES * PAGE);
}

static void kernel_faults(int zero)
{
	char *pages = map_pages(PAGES, PROT_READ | PROT_WRITE);

	EXPECT(read(zero, pages, PAGES * PAGE) == PAGES * PAGE);
	EXPECT(read(zero, nowhere, 100) == -1 && errno == EFAULT);
	munmap(pages, PAGES * PAGE);
}

static void work(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (long i = 0; i < rounds(40, 2000); i++) {
		copy_on_write(i % 4 == 0);
		kernel_faults(zero);
	}
	close(zero);
}

CASE(shared)
{
	pid_t owner = start_owner(cross_forever);

	pin(MEASURED_CPU);
	work();
	reap(owner);
}

CASE(own)
{
	int fd = device_own(BOTH);

	work();
	EXPECT(device_read(fd).running && !device_read(fd).lost);
	close(fd);
}

int main(int argc, char **argv)
{
	return run_cases(argc, argv);
}
