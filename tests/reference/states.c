// SPDX-License-Identifier: BSD-2-Clause
/*
 * states [-w] DIR ROUNDS: threads, each of which waits for one known thing ROUNDS times, and takes
 * the time of each wait by two clock reads. DIR is on a disk. For each thread, before done=1:
 *
 *   state=NAME tid=TID ns=SUM least_ns=LEAST run_ns=RUN queue_ns=QUEUE times=TIMES
 *
 * SUM is what its waits took, LEAST what they must have taken, RUN and QUEUE what the kernel says
 * that the thread had of a CPU and waited for one meanwhile, TIMES how often it got one. The thread
 * is called NAME. So its time in that state is at most SUM, and at least SUM - RUN - QUEUE. Before
 * and after its rounds it waits for a futex.
 */
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "reference.h"

#define STEP_NS (2 * NSEC_PER_MSEC) /* how long a wait lasts at least, where that can be chosen */
#define WRITE_SIZE (16UL << 20)

struct worker {
	const char *name;
	void (*begin)(void); /* NULL: nothing; so are the other functions */
	/* What another thread does to end a wait, or before one. */
	void (*peer)(void);
	void (*wait)(void);
	uint64_t least_ns; /* of a wait */
	int ready[2]; /* a pipe: it is about to wait */
	/* What it has found. */
	pid_t tid;
	uint64_t ns;
	uint64_t run_ns;
	struct reference_sched sched;
};

static const char *dir;
static uint64_t rounds;
static pthread_barrier_t barrier;

static void must(bool holds, const char *what)
{
	reference_must(holds, "%s: %m", what);
}

static void give(int fd)
{
	must(write(fd, "x", 1) == 1, "cannot write");
}

static void get(int fd)
{
	char c[8];

	must(read(fd, c, sizeof(c)) > 0, "cannot read");
}

static void get_one(int fd)
{
	char c;

	must(read(fd, &c, 1) == 1, "cannot read");
}

/* ---- timer ---- */

static void sleep_step(void)
{
	load__sleep(STEP_NS);
}

/* ---- pipe, poll, epoll, eventfd, socket ---- */

static int piped[2], polled[2], epolled[2], epoll, event, sockets[2];

static void begin_streams(void)
{
	struct epoll_event wanted = { .events = EPOLLIN };

	reference_pipe(piped);
	reference_pipe(polled);
	reference_pipe(epolled);
	event = eventfd(0, EFD_CLOEXEC);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	must(event >= 0 && epoll >= 0, "cannot make an eventfd");
	must(!epoll_ctl(epoll, EPOLL_CTL_ADD, epolled[0], &wanted), "epoll_ctl");
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), "socketpair");
}

static void end_pipe(void)
{
	give(piped[1]);
}

static void wait_pipe(void)
{
	get_one(piped[0]);
}

static void end_poll(void)
{
	give(polled[1]);
}

static void wait_poll(void)
{
	struct pollfd wanted = { .fd = polled[0], .events = POLLIN };

	must(poll(&wanted, 1, -1) == 1, "poll");
	get(polled[0]);
}

static void end_epoll(void)
{
	give(epolled[1]);
}

static void wait_epoll(void)
{
	struct epoll_event got;

	must(epoll_wait(epoll, &got, 1, -1) == 1, "epoll_wait");
	get(epolled[0]);
}

static void end_event(void)
{
	must(!eventfd_write(event, 1), "eventfd_write");
}

static void wait_event(void)
{
	get(event);
}

static void end_socket(void)
{
	must(send(sockets[1], "x", 1, 0) == 1, "send");
}

static void wait_socket(void)
{
	char c;

	must(recv(sockets[0], &c, 1, 0) == 1, "recv");
}

/* ---- futex ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int has_locked[2];

static void begin_mutex(void)
{
	reference_pipe(has_locked);
}

static void hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
	give(has_locked[1]);
	load__sleep(STEP_NS);
	pthread_mutex_unlock(&mutex);
}

static void wait_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

/* Not part of the wait. */
static void before_mutex(void)
{
	get_one(has_locked[0]);
}

/* ---- child, stopped ---- */

static void wait_child(void)
{
	pid_t pid = vfork();

	if (!pid) {
		const struct timespec step = { .tv_nsec = STEP_NS };

		syscall(SYS_nanosleep, &step, NULL);
		_exit(0);
	}
	must(pid > 0 && waitpid(pid, NULL, 0) == pid, "cannot wait for a child");
}

/* ---- signal ---- */

static void begin_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void end_signal(void)
{
	kill(getpid(), SIGUSR1);
}

static void wait_signal(void)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(!sigwait(&set, &got), "sigwait");
}

/* ---- disk, lock ---- */

static int direct = -1, locked = -1;
static char *block, *much;
static int writes[2];

static void begin_files(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/states-direct", dir);
	direct = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	must(direct >= 0, path);
	snprintf(path, sizeof(path), "%s/states-locked", dir);
	locked = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(locked >= 0, path);
	block = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	much = mmap(NULL, WRITE_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	must(block != MAP_FAILED && much != MAP_FAILED, "mmap");
	reference_pipe(writes);
}

static void wait_disk(void)
{
	must(pwrite(direct, block, 4096, 0) == 4096, "cannot write");
}

/* The file is locked while it is written: the other one waits for that. */
static void hold_inode(void)
{
	give(writes[1]);
	must(pwrite(locked, much, WRITE_SIZE, 0) == (ssize_t)WRITE_SIZE, "cannot write");
}

static void before_inode(void)
{
	get_one(writes[0]);
	sched_yield();
}

static void wait_inode(void)
{
	must(pwrite(locked, much, 1, 0) == 1, "cannot write");
}

/* ---- threads ---- */

static struct worker workers[] = {
	{ .name = "timer", .wait = sleep_step, .least_ns = STEP_NS },
	{ .name = "pipe", .begin = begin_streams, .peer = end_pipe, .wait = wait_pipe },
	{ .name = "poll", .peer = end_poll, .wait = wait_poll },
	{ .name = "epoll", .peer = end_epoll, .wait = wait_epoll },
	{ .name = "eventfd", .peer = end_event, .wait = wait_event },
	{ .name = "socket", .peer = end_socket, .wait = wait_socket },
	{ .name = "futex", .begin = begin_mutex, .peer = hold_mutex, .wait = wait_mutex },
	{ .name = "child", .wait = wait_child, .least_ns = STEP_NS },
	{ .name = "signal", .begin = begin_signal, .peer = end_signal, .wait = wait_signal },
	{ .name = "disk", .begin = begin_files, .wait = wait_disk },
	{ .name = "lock", .peer = hold_inode, .wait = wait_inode },
};
#define WORKERS (sizeof(workers) / sizeof(workers[0]))

static void before(const struct worker *worker)
{
	if (worker->peer)
		give(worker->ready[1]);
	if (worker->wait == wait_mutex)
		before_mutex();
	else if (worker->wait == wait_inode)
		before_inode();
}

static void *work(void *arg)
{
	struct worker *self = arg;
	struct reference_sched began = { 0 };

	prctl(PR_SET_NAME, self->name);
	self->tid = gettid();
	pthread_barrier_wait(&barrier); /* all are there */
	pthread_barrier_wait(&barrier); /* go */
	for (uint64_t round = 0; round < rounds; round++) {
		struct reference_sched ended;
		uint64_t from, ran;

		before(self);
		reference_sched__read(getpid(), self->tid, &began);
		ran = reference_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		from = clock__now_ns();
		self->wait();
		self->ns += clock__now_ns() - from;
		self->run_ns += reference_clock_ns(CLOCK_THREAD_CPUTIME_ID) - ran;
		reference_sched__read(getpid(), self->tid, &ended);
		reference_add_sched(&self->sched, reference_sched__since(began, ended));
	}
	pthread_barrier_wait(&barrier); /* all are done */
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void *accompany(void *arg)
{
	const struct worker *worker = arg;

	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (uint64_t round = 0; round < rounds; round++) {
		get_one(worker->ready[0]);
		if (worker->peer != hold_mutex && worker->peer != hold_inode)
			load__sleep(STEP_NS);
		worker->peer();
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2 * WORKERS];
	unsigned int nr = 0;

	argv = reference_arguments(argc, argv, 2, "states [-w] DIR ROUNDS");
	dir = argv[0];
	rounds = reference_number(argv[1], "ROUNDS", 1, 100000);
	for (size_t i = 0; i < WORKERS; i++) {
		if (workers[i].begin)
			workers[i].begin();
		if (workers[i].peer)
			reference_pipe(workers[i].ready);
		nr += 1 + !!workers[i].peer;
	}
	pthread_barrier_init(&barrier, NULL, nr + 1);
	nr = 0;
	for (size_t i = 0; i < WORKERS; i++) {
		threads[nr++] = reference_thread(work, &workers[i]);
		if (workers[i].peer)
			threads[nr++] = reference_thread(accompany, &workers[i]);
	}
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < WORKERS; i++)
		reference_parked(getpid(), workers[i].tid, SYS_futex);
	reference_wait("ready");

	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < WORKERS; i++)
		reference_parked(getpid(), workers[i].tid, SYS_futex);

	for (size_t i = 0; i < WORKERS; i++)
		printf("state=%s tid=%d ns=%lu least_ns=%lu run_ns=%lu queue_ns=%lu times=%lu\n",
		       workers[i].name, workers[i].tid, workers[i].ns, workers[i].least_ns * rounds,
		       workers[i].run_ns, workers[i].sched.run_delay_ns, workers[i].sched.pcount);
	reference_wait("done");
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
