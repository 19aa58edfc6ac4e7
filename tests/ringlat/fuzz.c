// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz SECS [SEED]: processes with two threads each do to a few shared descriptors what comes:
 * ioctls with any number and any argument, well-formed starts and stops, crossings, duplicates,
 * closes, moves to another CPU, forks, and now and then they die. The reference is in what the
 * kernel says in its log, and in that the module can be unloaded afterwards.
 */
#include "client.h"

#define FILES 4
#define WORKERS 4

static int files[FILES];
static void *absent;

static uint64_t any(uint64_t *state)
{
	/* xorshift64 */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int any_file(uint64_t *state)
{
	return files[any(state) % FILES];
}

static void start_well(uint64_t *state)
{
	pin((int)(any(state) % 2));
	device_start(any_file(state), (uint32_t)any(state) % 8);
}

static void stop(uint64_t *state)
{
	ioctl(any_file(state), RINGLAT_STOP);
}

static void wild_ioctl(uint64_t *state)
{
	static char page[PAGE];
	uint64_t argument = any(state);

	switch (any(state) % 4) {
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
	ioctl(any_file(state),
	      any(state) % 2 ? 0xdc00 | any(state) % 8 | (any(state) << 16 & 0xffff0000)
			     : any(state),
	      argument);
}

static void read_well(uint64_t *state)
{
	struct ringlat_counts counts;

	ioctl(any_file(state), RINGLAT_READ, &counts);
}

static void cross(uint64_t *state)
{
	struct crossing crossing;

	for (uint64_t i = any(state) % 64; i; i--) {
		cross_syscall(&crossing);
		cross_page_fault(&crossing, absent);
	}
}

static void replace(uint64_t *state)
{
	int *file = &files[any(state) % FILES];
	int opened = any(state) % 2 ? dup(any_file(state)) : open(RINGLAT_DEVICE, O_RDWR);

	if (opened >= 0)
		close(__atomic_exchange_n(file, opened, __ATOMIC_SEQ_CST));
}

static void move(uint64_t *state)
{
	pin((int)(any(state) % 2));
}

static void leave_child(uint64_t *state)
{
	pid_t pid = fork();

	if (!pid) {
		start_well(state);
		cross(state);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void give_way(uint64_t *state)
{
	sched_yield();
}

/* Most of the time: what makes owners and uses them. */
static void (*const actions[])(uint64_t *) = {
	start_well, stop, wild_ioctl, read_well, cross,	   replace,  move,
	start_well, stop, wild_ioctl, cross,	 give_way, give_way, leave_child,
};

static void *fuzz(void *argument)
{
	uint64_t state = (uint64_t)argument;

	for (;;) {
		actions[any(&state) % (sizeof(actions) / sizeof(actions[0]))](&state);
		if (any(&state) % 256 == 0)
			pthread_exit(NULL);
	}
}

/* Until its threads have ended, or it is killed meanwhile. */
static void work(uint64_t seed)
{
	pthread_t threads[2];

	absent = absent_page();
	for (int i = 0; i < FILES; i++)
		files[i] = open(RINGLAT_DEVICE, O_RDWR);
	for (int i = 0; i < 2; i++)
		must(!pthread_create(&threads[i], NULL, fuzz, (void *)(seed * 2 + (uint64_t)i + 1)),
		     "start a thread");
	for (int i = 0; i < 2; i++)
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

	for (int i = 0; i < WORKERS; i++)
		add_worker(&workers[i], seed + lives++);
	for (int i = 0; time(NULL) < end; i = (i + 1) % WORKERS) {
		nap_ms(20);
		/* One of them is killed, the others may come to their end. */
		if (!i)
			kill(workers[i], SIGKILL);
		if (waitpid(workers[i], NULL, i ? WNOHANG : 0) == workers[i])
			add_worker(&workers[i], seed + lives++);
	}
	for (int i = 0; i < WORKERS; i++) {
		kill(workers[i], SIGKILL);
		waitpid(workers[i], NULL, 0);
	}
	printf("lives=%lu\n", lives);
	return 0;
}
