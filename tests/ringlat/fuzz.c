// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz SECS [SEED]: processes with two threads each do to a few shared descriptors what comes:
 * ioctls with any number and any argument, well-formed starts and stops, crossings, duplicates,
 * closes, moves to another CPU, forks, and now and then they die. The reference is in what the
 * kernel says in its log, and in that the module can be unloaded afterwards.
 */
#include "client.h"

#include <pthread.h>
#include <sys/syscall.h>

#define FILES 4
#define WORKERS 4

static int files[FILES];
static void *absent;

struct fuzzer {
	uint64_t state;
};

static uint64_t any(struct fuzzer *fuzzer)
{
	/* xorshift64 */
	fuzzer->state ^= fuzzer->state << 13;
	fuzzer->state ^= fuzzer->state >> 7;
	fuzzer->state ^= fuzzer->state << 17;
	return fuzzer->state;
}

static int any_file(struct fuzzer *fuzzer)
{
	return files[any(fuzzer) % FILES];
}

static void start_well(struct fuzzer *fuzzer)
{
	pin((int)(any(fuzzer) % 2));
	device_start(any_file(fuzzer), (uint32_t)any(fuzzer) % 8);
}

static void stop(struct fuzzer *fuzzer)
{
	ioctl(any_file(fuzzer), RINGLAT_STOP);
}

static void wild_ioctl(struct fuzzer *fuzzer)
{
	static char page[PAGE];
	uint64_t argument = any(fuzzer);

	switch (any(fuzzer) % 4) {
	case 0:
		argument = (uint64_t)page;
		break;
	case 1:
		argument = (uint64_t)page + PAGE - argument % 64;
		break;
	case 2:
		argument = (uint64_t)absent;
		break;
	}
	/* An ioctl of ringlat, or any. */
	ioctl(any_file(fuzzer),
	      any(fuzzer) % 2 ? 0xdc00 | any(fuzzer) % 8 | (any(fuzzer) << 16 & 0xffff0000)
			      : any(fuzzer),
	      argument);
}

static void read_well(struct fuzzer *fuzzer)
{
	struct ringlat_counts counts;

	ioctl(any_file(fuzzer), RINGLAT_READ, &counts);
}

static void cross(struct fuzzer *fuzzer)
{
	struct crossing crossing;
	uint64_t i;

	for (i = any(fuzzer) % 64; i; i--) {
		cross_syscall(&crossing);
		cross_page_fault(&crossing, absent);
	}
}

static void replace(struct fuzzer *fuzzer)
{
	int *file = &files[any(fuzzer) % FILES];
	int opened = any(fuzzer) % 2 ? dup(any_file(fuzzer)) : open(RINGLAT_DEVICE, O_RDWR);

	if (opened >= 0)
		close(__atomic_exchange_n(file, opened, __ATOMIC_SEQ_CST));
}

static void move(struct fuzzer *fuzzer)
{
	pin((int)(any(fuzzer) % 2));
}

static void leave_child(struct fuzzer *fuzzer)
{
	pid_t pid = fork();

	if (!pid) {
		start_well(fuzzer);
		cross(fuzzer);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void give_way(struct fuzzer *fuzzer)
{
	(void)fuzzer;
	sched_yield();
}

/* Most of the time: what makes owners and uses them. */
static void (*const actions[])(struct fuzzer *) = {
	start_well, stop, wild_ioctl, read_well, cross,	   replace,  move,
	start_well, stop, wild_ioctl, cross,	 give_way, give_way, leave_child,
};

static void *fuzz(void *argument)
{
	struct fuzzer fuzzer = { .state = (uint64_t)argument };

	for (;;) {
		actions[any(&fuzzer) % (sizeof(actions) / sizeof(actions[0]))](&fuzzer);
		if (any(&fuzzer) % 256 == 0)
			pthread_exit(NULL);
	}
}

/* Until its threads have ended, or it is killed meanwhile. */
static void work(uint64_t seed)
{
	pthread_t threads[2];
	int i;

	absent = absent_page();
	for (i = 0; i < FILES; i++)
		files[i] = open(RINGLAT_DEVICE, O_RDWR);
	for (i = 0; i < 2; i++)
		must(!pthread_create(&threads[i], NULL, fuzz, (void *)(seed * 2 + (uint64_t)i + 1)),
		     "start a thread");
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static void add_worker(pid_t *worker, uint64_t seed)
{
	*worker = fork();
	must(*worker >= 0, "fork");
	if (!*worker)
		work(seed);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	pid_t workers[WORKERS];
	unsigned long lives = 0;
	int i;

	for (i = 0; i < WORKERS; i++)
		add_worker(&workers[i], seed + lives++);
	for (i = 0; time(NULL) < end; i = (i + 1) % WORKERS) {
		nap_ms(20);
		/* One of them is killed, the others may come to their end. */
		if (!i)
			kill(workers[i], SIGKILL);
		if (waitpid(workers[i], NULL, i ? WNOHANG : 0) == workers[i])
			add_worker(&workers[i], seed + lives++);
	}
	for (i = 0; i < WORKERS; i++) {
		kill(workers[i], SIGKILL);
		waitpid(workers[i], NULL, 0);
	}
	printf("lives=%lu\n", lives);
	return 0;
}
