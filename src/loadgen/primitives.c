// SPDX-License-Identifier: BSD-2-Clause
#include "primitives.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void load__sleep(uint64_t ns)
{
	struct timespec rest = clock__timespec(ns);

	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
}

uint64_t load__spin(uint64_t ns)
{
	uint64_t start = clock__now_ns(), now;

	do
		now = clock__now_ns();
	while (now - start < ns);
	return now - start;
}

size_t load__page(void)
{
	return (size_t)getpagesize();
}

char *load__map(size_t pages)
{
	char *map = mmap(NULL, pages * load__page(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* EINVAL: a kernel without huge pages. */
	if (madvise(map, pages * load__page(), MADV_NOHUGEPAGE) && errno != EINVAL)
		return NULL;
	return map;
}

void load__touch(char *map, size_t pages, bool read)
{
	volatile char *page = map;

	for (size_t i = 0; i < pages; i++, page += load__page()) {
		if (read)
			(void)*page;
		else
			*page = 1;
	}
}

uint64_t load__random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL >> 16;
}

uint64_t load__seed(uint64_t seed, unsigned int index)
{
	return (seed + index + 1) * 0x9e3779b97f4a7c15ULL;
}

unsigned int load__cpus(void)
{
	cpu_set_t set;

	/* EINVAL: more CPUs than a cpu_set_t holds. */
	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

int load__cpu_from_end(unsigned int nth)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	nth %= CPU_COUNT(&set);
	while (!CPU_ISSET(--cpu, &set) || nth--)
		;
	return cpu;
}

int load__pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return -EINVAL;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

int load__thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -err;
}

int pingpong__open(struct pingpong *pair)
{
	int err;

	*pair = (struct pingpong){ { -1, -1 }, { -1, -1 } };
	if (!pipe2(pair->ping, O_CLOEXEC) && !pipe2(pair->pong, O_CLOEXEC))
		return 0;
	err = -errno;
	pingpong__close(pair);
	return err;
}

void pingpong__close(const struct pingpong *pair)
{
	close(pair->ping[0]);
	close(pair->ping[1]);
	close(pair->pong[0]);
	close(pair->pong[1]);
}

int pingpong__send(const struct pingpong *pair, bool first)
{
	return write(first ? pair->ping[1] : pair->pong[1], "", 1) < 0 ? -errno : 0;
}

int pingpong__receive(const struct pingpong *pair, bool first)
{
	char ball;
	ssize_t got = read(first ? pair->pong[0] : pair->ping[0], &ball, 1);

	if (got < 0)
		return -errno;
	return got ? 0 : -EPIPE;
}
