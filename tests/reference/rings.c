// SPDX-License-Identifier: BSD-2-Clause
/*
 * rings [-w] ROUNDS: for each of pipe, futex, eventfd and epoll, four threads that pass a token in
 * a ring. Who has it works for a known time, by sleeping: the first one for 8 steps, the next ones
 * for 4, 2 and 1. So the longest waits of the last one, which waits in read or futex, are 14 steps,
 * and the chain of each is
 *
 *   NAME3 waits 14 steps < NAME2 waits 12 < NAME1 waits 8 < NAME0 sleeps 8
 *
 * Before done=1, for each ring: ring=NAME step_ns=STEP tid0= tid1= tid2= tid3= and longest_ns=, the
 * longest wait of the last one by its clock.
 *
 * All are on one CPU with a thread "busy", which takes what they leave: the timers interrupt it,
 * but it wakes nobody up.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <linux/futex.h>

#include "reference.h"

#define MEMBERS 4
static const uint64_t step_ns = 4 * NSEC_PER_MSEC;

enum way { PIPE, FUTEX, EVENTFD, EPOLL, WAYS };

static const char *const names[WAYS] = { "pipe", "futex", "eventfd", "epoll" };
static const uint64_t steps[MEMBERS] = { 8, 4, 2, 1 };

struct member {
	enum way way;
	int number;
	pid_t tid;
	int fds[2]; /* to read and write its token */
	int epoll;
	atomic_int token; /* futex */
};

static struct member members[WAYS][MEMBERS];
static uint64_t rounds, longest_ns[WAYS];
static pthread_barrier_t barrier;

static void must(bool holds, const char *what)
{
	reference_must(holds, "%s: %m", what);
}

static void prepare(struct member *member)
{
	struct epoll_event wanted = { .events = EPOLLIN };

	reference_pipe(member->fds);
	if (member->way == EVENTFD) {
		member->fds[0] = member->fds[1] = eventfd(0, EFD_CLOEXEC);
		must(member->fds[0] >= 0, "eventfd");
	}
	member->epoll = epoll_create1(EPOLL_CLOEXEC);
	must(member->epoll >= 0 &&
		     !epoll_ctl(member->epoll, EPOLL_CTL_ADD, member->fds[0], &wanted),
	     "epoll");
}

static void give(struct member *to)
{
	const uint64_t one = 1;

	if (to->way == FUTEX) {
		atomic_store(&to->token, 1);
		syscall(SYS_futex, &to->token, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		return;
	}
	must(write(to->fds[1], &one, sizeof(one)) == sizeof(one), "cannot write");
}

static void get(struct member *own)
{
	struct epoll_event got;
	uint64_t one;

	while (own->way == FUTEX && !atomic_exchange(&own->token, 0))
		syscall(SYS_futex, &own->token, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	if (own->way == FUTEX)
		return;
	/* A wait in epoll is one for work, which has no chain: so the last one only reads. */
	if (own->way == EPOLL && own->number < MEMBERS - 1)
		must(epoll_wait(own->epoll, &got, 1, -1) == 1, "epoll_wait");
	must(read(own->fds[0], &one, sizeof(one)) == sizeof(one), "cannot read");
}

static void *take_part(void *arg)
{
	struct member *own = arg, *ring = members[own->way];
	bool last = own->number == MEMBERS - 1;
	char name[16];

	snprintf(name, sizeof(name), "%s%d", names[own->way], own->number);
	prctl(PR_SET_NAME, name);
	own->tid = gettid();
	pthread_barrier_wait(&barrier); /* all are there */
	pthread_barrier_wait(&barrier); /* go */
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t from_ns = clock__now_ns(), ns;

		if (i || own->number)
			get(own);
		ns = clock__now_ns() - from_ns;
		if (last && ns > longest_ns[own->way])
			longest_ns[own->way] = ns;
		load__sleep(steps[own->number] * step_ns);
		if (!last || i + 1 < rounds)
			give(&ring[(own->number + 1) % MEMBERS]);
	}
	pthread_barrier_wait(&barrier); /* all are done */
	pthread_barrier_wait(&barrier);
	return NULL;
}

static atomic_bool is_over;

static void *be_busy(void *unused)
{
	const struct sched_param param = { 0 };

	prctl(PR_SET_NAME, "busy");
	reference_must(!sched_setscheduler(0, SCHED_IDLE, &param), "sched_setscheduler: %m");
	while (!atomic_load(&is_over))
		continue;
	return unused;
}

static void print(enum way way)
{
	printf("ring=%s step_ns=%lu longest_ns=%lu", names[way], step_ns, longest_ns[way]);
	for (int i = 0; i < MEMBERS; i++)
		printf(" tid%d=%d", i, members[way][i].tid);
	putchar('\n');
}

int main(int argc, char **argv)
{
	pthread_t threads[WAYS * MEMBERS], busy;

	argv = reference_arguments(argc, argv, 1, "rings [-w] ROUNDS");
	rounds = reference_number(argv[0], "ROUNDS", 1, 10000);
	reference_bind(0, reference_cpu(0));
	pthread_barrier_init(&barrier, NULL, WAYS * MEMBERS + 1);
	for (int i = 0; i < WAYS * MEMBERS; i++) {
		struct member *member = &members[i / MEMBERS][i % MEMBERS];

		*member = (struct member){ .way = i / MEMBERS, .number = i % MEMBERS };
		prepare(member);
		threads[i] = reference_thread(take_part, member);
	}
	pthread_barrier_wait(&barrier);
	reference_pause("ready");
	busy = reference_thread(be_busy, NULL);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	atomic_store(&is_over, true);
	pthread_join(busy, NULL);
	for (int way = 0; way < WAYS; way++)
		print(way);
	reference_pause("done");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < WAYS * MEMBERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
