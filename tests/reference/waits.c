// SPDX-License-Identifier: BSD-2-Clause
/*
 * waits [-w] SHAPE ROUNDS: threads that wait for a CPU in the way of SHAPE, and how long, by a
 * capture of our own (capture.h).
 *
 *   idle   one thread, which sleeps for 1 to 3 ms: it wakes up on an idle CPU
 *   half   a thread per CPU, each works for as long as it sleeps
 *   over   four per CPU
 *   repin  eight, each works for 2 ms, then binds itself to the other one of two CPUs
 *   lazy   the same, but it sleeps between, and is bound elsewhere only in every eighth round
 *   peer   one thread tells another, on another CPU, what time it is: peer_... is what the second
 *          one sees
 *
 * ROUNDS is what each thread does. The threads are called waits-worker, and all their waits from
 * ready=1 to done=1 are in run_queue_... and wakeup_..., but for those of the first peer. The lines
 * worker=TID, before ready=1, say which threads there are.
 */

#include "capture.h"

#define MOST_THREADS 1024
#define COMM "waits-worker"
#define WORK_NS (2 * NSEC_PER_MSEC)

struct shape {
	const char *name;
	void (*round)(unsigned int worker, uint64_t *random, unsigned int round);
	unsigned int per_cpu, threads;
};

static const struct shape *shape;
static uint64_t rounds;
static pthread_barrier_t barrier;
static int cpus[2]; /* the same twice if there is one only */
static int told[2];
static pid_t tids[MOST_THREADS];
static struct capture_samples seen_by_peer;

static void work(uint64_t ns)
{
	uint64_t end = reference_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (reference_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void sleep_a_while(unsigned int worker, uint64_t *random, unsigned int round)
{
	load__sleep(NSEC_PER_MSEC + load__random(random) % (2 * NSEC_PER_MSEC));
}

static void work_and_sleep(unsigned int worker, uint64_t *random, unsigned int round)
{
	work(NSEC_PER_MSEC / 2 + load__random(random) % NSEC_PER_MSEC);
	sleep_a_while(worker, random, round);
}

static void repin(unsigned int worker, uint64_t *random, unsigned int round)
{
	work(WORK_NS);
	load__pin(cpus[(worker + round) % 2]);
}

static void repin_seldom(unsigned int worker, uint64_t *random, unsigned int round)
{
	work(NSEC_PER_MSEC);
	if (load__random(random) % 8 == 0)
		load__pin(cpus[(worker + round) % 2]);
	load__sleep(NSEC_PER_MSEC);
}

static void tell_peer(unsigned int worker, uint64_t *random, unsigned int round)
{
	uint64_t now;

	if (!round)
		load__pin(cpus[worker % 2]);
	if (!worker) {
		sleep_a_while(worker, random, round);
		now = clock__now_ns();
		reference_must(write(told[1], &now, sizeof(now)) == sizeof(now),
			       "cannot write to a pipe");
		return;
	}
	reference_must(read(told[0], &now, sizeof(now)) == sizeof(now), "cannot read from a pipe");
	seen_by_peer.ns[seen_by_peer.count++] = clock__now_ns() - now;
}

static const struct shape shapes[] = {
	{ "idle", sleep_a_while, 0, 1 },  { "half", work_and_sleep, 1, 0 },
	{ "over", work_and_sleep, 4, 0 }, { "repin", repin, 0, 8 },
	{ "lazy", repin_seldom, 0, 8 },	  { "peer", tell_peer, 0, 2 },
};

static const struct shape *find_shape(const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	reference_die(REFERENCE_USAGE, "there is no shape '%s'", name);
}

static void *worker(void *number)
{
	unsigned int self = (uintptr_t)number;
	uint64_t random = load__seed(1, self);

	/* In shape `peer` the one that sleeps is not what is looked at. */
	if (shape->round != tell_peer || self)
		prctl(PR_SET_NAME, COMM);
	tids[self] = gettid();
	pthread_barrier_wait(&barrier); /* all are there */
	pthread_barrier_wait(&barrier); /* go */
	for (uint64_t round = 0; round < rounds; round++)
		shape->round(self, &random, round);
	pthread_barrier_wait(&barrier); /* all are done */
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* So that the recorder and the capture see the same waits, wherever their windows begin and end. */
static void await_all(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		reference_parked(getpid(), tids[i], SYS_futex);
}

int main(int argc, char **argv)
{
	struct capture capture = { 0 };
	pthread_t threads[MOST_THREADS];
	unsigned int nr;

	argv = reference_arguments(argc, argv, 2, "waits [-w] SHAPE ROUNDS");
	shape = find_shape(argv[0]);
	rounds = reference_number(argv[1], "ROUNDS", 1, 1000000);
	nr = shape->threads + shape->per_cpu * sysconf(_SC_NPROCESSORS_ONLN);
	if (nr > MOST_THREADS)
		nr = MOST_THREADS;
	seen_by_peer.ns = calloc(rounds, sizeof(uint64_t));
	cpus[0] = reference_cpu(0);
	cpus[1] = reference_cpu(1);
	reference_pipe(told);
	reference_must(seen_by_peer.ns, "out of memory");
	capture_open(&capture, COMM);
	pthread_barrier_init(&barrier, NULL, nr + 1);
	for (unsigned int i = 0; i < nr; i++)
		threads[i] = reference_thread(worker, (void *)(uintptr_t)i);
	pthread_barrier_wait(&barrier);
	await_all(nr);
	for (unsigned int i = 0; i < nr; i++)
		printf("worker=%d\n", tids[i]);
	capture_switch_on(&capture, true);
	reference_wait("ready");

	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	await_all(nr);
	capture_switch_on(&capture, false);

	capture_replay(&capture);
	capture_print("run_queue", &capture.run_queue);
	capture_print("wakeup", &capture.wakeup);
	capture_print("peer", &seen_by_peer);
	reference_wait("done");
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
