// SPDX-License-Identifier: BSD-2-Clause
/*
 * sleepers [-w] [-t THREADS] [-s SEED] COUNT SECONDS: run-queue waits of many tasks that move
 * about.
 *
 * COUNT child processes of THREADS threads each (1 if not said), none pinned, run for 0 to 4 ms
 * and sleep for 0 to 2 ms, or run on without a sleep, at random. With more threads than CPUs they
 * wait for each other and are moved between CPUs while they wait.
 *
 * The reference is a line per child process, child=PID, the sums over its threads: run_delay_ns and
 * pcount are what the kernel added between both waits of -w, run_delay_life_ns and pcount_life are
 * since fork. Both readings are of parked threads (sched.h): they block in read(2) before
 * the go, and afterwards a child of one thread has exited and is kept as a zombie, one of several
 * blocks in ppoll(2). So between the readings lie all of its waits, from the one that the go ends
 * to the last one before it parks or dies, and none is open or yet to come:
 *
 *  - a window that opens after ready=1 and closes after done=1 sums to run_delay_ns per process;
 *  - one that contains the whole life of this program sums to run_delay_life_ns, from the first
 *    wait of the new task on; with several threads only if it closes before the second line of -w,
 *    as the threads are killed then and wait for a CPU to die on.
 *
 * The sum over the children is on the line total=1. This process's own waits are not told. The
 * lines started=PID, before ready=1, say beforehand which children there are.
 */

#include "reference.h"

#define MAX_CHILDREN 1024
#define MAX_THREADS 64

struct child {
	pid_t pid;
	atomic_int tids[MAX_THREADS]; /* 0: not known yet */
	struct reference_sched before;
};

/* Shared by all processes. */
struct shared {
	int start[2];
	unsigned int children, threads;
	uint64_t duration_ns, seed;
	atomic_uint ended;
	struct child child[MAX_CHILDREN];
};

struct worker {
	struct shared *shared;
	struct child *child;
	unsigned int thread;
};

static void work(const struct worker *worker)
{
	const struct shared *shared = worker->shared;
	uint64_t index = (worker->child - shared->child) * MAX_THREADS + worker->thread;
	uint64_t state = load__seed(shared->seed, index);
	uint64_t end = clock__now_ns() + shared->duration_ns;

	while (clock__now_ns() < end) {
		load__spin(load__random(&state) % (4 * NSEC_PER_MSEC));
		if (load__random(&state) % 4)
			load__sleep(load__random(&state) % (2 * NSEC_PER_MSEC));
	}
}

static void *run_worker(void *arg)
{
	const struct worker *worker = arg;
	struct shared *shared = worker->shared;

	atomic_store(&worker->child->tids[worker->thread], gettid());
	reference_sched__park_start(shared->start[0]);
	work(worker);
	atomic_fetch_add(&shared->ended, 1);
	if (shared->threads == 1)
		_exit(0);
	reference_sched__park_end();
}

static _Noreturn void run_child(struct shared *shared, struct child *child)
{
	static struct worker workers[MAX_THREADS];

	close(shared->start[1]);
	for (unsigned int i = 0; i < shared->threads; i++)
		workers[i] = (struct worker){ shared, child, i };
	for (unsigned int i = 1; i < shared->threads; i++)
		reference_thread(run_worker, &workers[i]);
	run_worker(&workers[0]);
	_exit(1);
}

static void start_children(struct shared *shared)
{
	fflush(stdout);
	for (unsigned int i = 0; i < shared->children; i++) {
		struct child *child = &shared->child[i];
		pid_t pid = reference_fork();

		if (!pid)
			run_child(shared, child);
		child->pid = pid;
	}
}

/* The sum over the threads of a child, once all of them are parked. */
static struct reference_sched child_sched(const struct shared *shared, struct child *child,
					  long where)
{
	struct reference_sched sum = {};

	for (unsigned int i = 0; i < shared->threads; i++)
		reference_add_sched(&sum,
				    reference_parked(child->pid, reference_await(&child->tids[i]),
						     where));
	return sum;
}

static void wait_for_end(struct shared *shared)
{
	uint64_t deadline = clock__now_ns() + shared->duration_ns + 60 * NSEC_PER_SEC;

	load__sleep(shared->duration_ns);
	while (atomic_load(&shared->ended) < shared->children * shared->threads) {
		reference_must(clock__now_ns() <= deadline, "the children do not end");
		load__sleep(10 * NSEC_PER_MSEC);
	}
}

static void print_sched(struct reference_sched before, struct reference_sched after)
{
	printf("run_delay_ns=%lu pcount=%lu ", after.run_delay_ns - before.run_delay_ns,
	       after.pcount - before.pcount);
	printf("run_delay_life_ns=%lu pcount_life=%lu ran_ns=%lu\n", after.run_delay_ns,
	       after.pcount, after.ran_ns - before.ran_ns);
}

static void report(struct shared *shared)
{
	long where = shared->threads == 1 ? REFERENCE_PARK_ZOMBIE : REFERENCE_PARK_END;
	struct reference_sched before = {}, after = {};

	for (unsigned int i = 0; i < shared->children; i++) {
		struct child *child = &shared->child[i];
		struct reference_sched now = child_sched(shared, child, where);

		printf("child=%d ", child->pid);
		print_sched(child->before, now);
		reference_add_sched(&before, child->before);
		reference_add_sched(&after, now);
	}
	printf("total=1 ");
	print_sched(before, after);
}

static struct shared *map_shared(void)
{
	struct shared *shared = reference_share(sizeof(*shared));

	reference_must(!pipe2(shared->start, O_CLOEXEC), "cannot make a pipe: %m");
	shared->threads = 1;
	return shared;
}

static void parse(struct shared *shared, int argc, char **argv)
{
	int option;

	while ((option = reference_option(argc, argv, "t:s:")))
		if (option == 't')
			shared->threads = reference_number(optarg, "THREADS", 1, MAX_THREADS);
		else
			shared->seed = reference_number(optarg, "SEED", 0, UINT32_MAX);
	argv = reference_arguments(argc, argv, 2,
				   "sleepers [-w] [-t THREADS] [-s SEED] COUNT SECONDS");
	shared->children = reference_number(argv[0], "COUNT", 1, MAX_CHILDREN);
	shared->duration_ns = reference_time(argv[1], "SECONDS", NSEC_PER_SEC);
}

int main(int argc, char **argv)
{
	struct shared *shared = map_shared();

	parse(shared, argc, argv);
	start_children(shared);
	for (unsigned int i = 0; i < shared->children; i++) {
		struct child *child = &shared->child[i];

		child->before = child_sched(shared, child, REFERENCE_PARK_START);
		printf("started=%d\n", child->pid);
	}
	reference_open();
	close(shared->start[1]);
	wait_for_end(shared);
	report(shared);
	reference_close();
	for (unsigned int i = 0; i < shared->children; i++)
		reference_end(shared->child[i].pid);
	return 0;
}
