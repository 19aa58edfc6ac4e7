// SPDX-License-Identifier: BSD-2-Clause
/*
 * states [-w] DIR ROUNDS: threads, each of which waits for one known thing ROUNDS times, and takes
 * the time of each wait by two clock reads. DIR is on a disk. For each thread, before done=1:
 *
 *   state=NAME tid=TID ns=SUM run_ns=RUN queue_ns=QUEUE waits=WAITS
 *
 * SUM is what its waits took, RUN and QUEUE what the kernel says that the thread had of a CPU and
 * waited for one meanwhile. The thread is called NAME. So its time in that state is at most SUM,
 * and SUM - RUN - QUEUE but for the clock reads. Before and after its rounds it waits for a futex;
 * the one whose rounds are about a futex waits for work then.
 */
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "reference.h"

#define STEP_NS (2 * NSEC_PER_MSEC) /* how long a wait lasts at least, where that can be chosen */

struct worker {
	const char *name;
	void (*begin)(void); /* NULL: nothing; so are the other functions */
	/* What another thread does to end a wait, or before one. */
	void (*peer)(void);
	void (*wait)(void);
	int ready[2]; /* a pipe: it is about to wait */
	/* What it has found. */
	pid_t tid;
	uint64_t waits;
	uint64_t ns;
	uint64_t run_ns;
	uint64_t queue_ns;
};

static const char *dir;
static uint64_t rounds;
static pthread_barrier_t barrier;
static int gate[2]; /* a pipe */

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

/* ---- disk ---- */

static int direct = -1;
static char *block;

static void begin_file(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/states-direct", dir);
	direct = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	must(direct >= 0, path);
	block = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(block != MAP_FAILED, "mmap");
}

static void wait_disk(void)
{
	must(pwrite(direct, block, 4096, 0) == 4096, "cannot write");
}

/* ---- lock ---- */

/* Who writes to a pipe has its mutex, also while it waits for the page with the data. */
static struct reference_uffd uffd = { .pages = 1 };
static int shared[2], has_mutex[2];

static void *fill_pages(void *unused)
{
	for (uint64_t round = 0; round < rounds; round++) {
		uint64_t address = reference_await_fault(&uffd);

		give(has_mutex[1]);
		load__sleep(STEP_NS);
		reference_check(reference_uffd__fill(&uffd, address), uffd.why);
	}
	return unused;
}

static void begin_pages(void)
{
	struct uffdio_api api = { .api = UFFD_API };

	reference_pipe(shared);
	reference_pipe(has_mutex);
	uffd.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC); /* also for faults of the kernel */
	reference_need(uffd.fd >= 0 && !ioctl(uffd.fd, UFFDIO_API, &api), "userfaultfd: %m");
	reference_check(reference_uffd__map(&uffd), uffd.why);
	reference_thread(fill_pages, NULL);
}

static void hold_pipe(void)
{
	must(!madvise(uffd.map, load__page(), MADV_DONTNEED), "madvise");
	must(write(shared[1], uffd.map, 1) == 1, "cannot write");
}

static void before_pipe(void)
{
	get_one(has_mutex[0]);
}

static void wait_shared(void)
{
	get_one(shared[0]);
}

/* ---- threads ---- */

static struct worker workers[] = {
	{ .name = "timer", .wait = sleep_step },
	{ .name = "pipe", .begin = begin_streams, .peer = end_pipe, .wait = wait_pipe },
	{ .name = "poll", .peer = end_poll, .wait = wait_poll },
	{ .name = "epoll", .peer = end_epoll, .wait = wait_epoll },
	{ .name = "eventfd", .peer = end_event, .wait = wait_event },
	{ .name = "socket", .peer = end_socket, .wait = wait_socket },
	{ .name = "futex", .begin = begin_mutex, .peer = hold_mutex, .wait = wait_mutex },
	{ .name = "child", .wait = wait_child },
	{ .name = "signal", .begin = begin_signal, .peer = end_signal, .wait = wait_signal },
	{ .name = "disk", .begin = begin_file, .wait = wait_disk },
	{ .name = "lock", .begin = begin_pages, .peer = hold_pipe, .wait = wait_shared },
};
#define WORKERS (sizeof(workers) / sizeof(workers[0]))

static void before(const struct worker *worker)
{
	if (worker->peer)
		give(worker->ready[1]);
	if (worker->wait == wait_mutex)
		before_mutex();
	else if (worker->wait == wait_shared)
		before_pipe();
}

/* What a thread has had so far. */
struct had {
	uint64_t at_ns, run_ns;
	struct reference_sched sched;
};

/* All of it at one time: the thread did not lose its CPU meanwhile. */
static void read_had(struct had *had)
{
	struct reference_sched before;

	do {
		reference_sched__read(getpid(), gettid(), &before);
		had->at_ns = clock__now_ns();
		had->run_ns = reference_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		reference_sched__read(getpid(), gettid(), &had->sched);
	} while (had->sched.pcount != before.pcount);
}

static void measure(struct worker *self, void (*wait)(void))
{
	struct had before, after;

	read_had(&before);
	wait();
	read_had(&after);
	self->ns += after.at_ns - before.at_ns;
	self->run_ns += after.run_ns - before.run_ns;
	self->queue_ns += after.sched.run_delay_ns - before.sched.run_delay_ns;
	self->waits++;
}

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

/* It waits for work, so that all its waits for a futex can be measured. */
static void pass_gate(void)
{
	struct pollfd wanted = { .fd = gate[0], .events = POLLIN };

	must(syscall(SYS_ppoll, &wanted, 1, NULL, NULL, 0) == 1, "ppoll");
	get_one(gate[0]);
}

static void *work(void *arg)
{
	struct worker *self = arg;
	bool gated = self->wait == wait_mutex;

	prctl(PR_SET_NAME, self->name);
	self->tid = gettid();
	meet(); /* all are there */
	if (gated) {
		pass_gate();
		measure(self, meet);
	} else {
		meet(); /* go */
	}
	for (uint64_t round = 0; round < rounds; round++) {
		before(self);
		measure(self, self->wait);
	}
	if (gated) {
		measure(self, meet);
		pass_gate();
	} else {
		meet(); /* all are done */
	}
	meet();
	return NULL;
}

static void *accompany(void *arg)
{
	const struct worker *worker = arg;

	meet();
	meet();
	for (uint64_t round = 0; round < rounds; round++) {
		get_one(worker->ready[0]);
		if (worker->peer != hold_mutex && worker->peer != hold_pipe)
			load__sleep(STEP_NS);
		worker->peer();
	}
	meet();
	meet();
	return NULL;
}

/* Waits until each worker is between two barriers, or at the gate. */
static void all_parked(void)
{
	for (size_t i = 0; i < WORKERS; i++)
		reference_parked(getpid(), workers[i].tid,
				 workers[i].wait == wait_mutex ? SYS_ppoll : SYS_futex);
}

int main(int argc, char **argv)
{
	pthread_t threads[2 * WORKERS];
	unsigned int nr = 0;

	argv = reference_arguments(argc, argv, 2, "states [-w] DIR ROUNDS");
	dir = argv[0];
	rounds = reference_number(argv[1], "ROUNDS", 1, 100000);
	reference_pipe(gate);
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
	meet();
	all_parked();
	reference_wait("ready");

	give(gate[1]);
	meet();
	meet();
	all_parked();

	for (size_t i = 0; i < WORKERS; i++)
		printf("state=%s tid=%d ns=%lu run_ns=%lu queue_ns=%lu waits=%lu\n",
		       workers[i].name, workers[i].tid, workers[i].ns, workers[i].run_ns,
		       workers[i].queue_ns, workers[i].waits);
	reference_wait("done");
	give(gate[1]);
	meet();
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
