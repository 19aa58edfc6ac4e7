// SPDX-License-Identifier: BSD-2-Clause
/*
 * pushed [-w] before|across|within TASKS WAIT_MS: tasks that are moved while they wait for a CPU.
 *
 * TASKS real-time tasks wait on the last CPU behind a hog of higher priority. When each has waited
 * for WAIT_MS, their parent, whose priority is higher still and which is on another CPU, has all of
 * them move there and back at once. They get no CPU by that, but the kernel adds what they have
 * waited so far to its sum. If it throttles the hog, that is in favour of ordinary tasks alone.
 *
 *   before   that happens before ready=1; in the window the hog ends, and each gets the CPU
 *   across   they wait before ready=1, and are moved in the window; at done=1 they still wait
 *   within   all of it happens in the window; at done=1 they still wait
 *
 * moved_ns= is what the kernel added by the moves, waited_ns= how long each had waited by then, at
 * least. With `before`, run_delay_ns= is what it has added for all waits once they have ended.
 */

#include "reference.h"

#define MOST_TASKS 100
#define SETTLE_NS (50 * NSEC_PER_MSEC) /* until a hog has its CPU */

enum priority { WAITER = 1, HOG, PARENT };

struct waiter {
	pid_t pid;
	struct reference_sched waits; /* its account when it was last seen waiting */
};

struct pushed {
	struct waiter waiters[MOST_TASKS];
	size_t tasks;
	uint64_t wait_ns;
	pid_t hog;
	int there, here; /* the CPU of the tasks, and that of their parent */
};

static void choose_cpus(struct pushed *pushed)
{
	reference_need_cpus(2);
	pushed->there = load__cpu_from_end(0);
	pushed->here = load__cpu_from_end(1);
	reference_must(!load__pin(pushed->here), "cannot go to CPU %d", pushed->here);
	reference_be_realtime(PARENT);
}

/* A task that always wants to run. */
static pid_t start(int cpu, enum priority priority)
{
	pid_t pid = reference_fork();

	if (pid)
		return pid;
	reference_be_realtime(priority);
	reference_must(!load__pin(cpu), "cannot go to CPU %d", cpu);
	for (;;)
		;
}

static struct reference_sched account_of(pid_t pid)
{
	struct reference_sched sched;

	reference_need(!reference_sched__read(pid, pid, &sched), "no schedstat of process %d", pid);
	return sched;
}

static bool got_cpu(const struct waiter *waiter)
{
	return account_of(waiter->pid).pcount != waiter->waits.pcount;
}

/* None has had the CPU since the hog has. */
static void check_waiters(const struct pushed *pushed)
{
	for (size_t i = 0; i < pushed->tasks; i++)
		reference_must(!got_cpu(&pushed->waiters[i]), "a task got the CPU before its turn");
}

static void start_all(struct pushed *pushed)
{
	pushed->hog = start(pushed->there, HOG);
	load__sleep(SETTLE_NS);
	for (size_t i = 0; i < pushed->tasks; i++)
		pushed->waiters[i].pid = start(pushed->there, WAITER);
	load__sleep(SETTLE_NS);
	for (size_t i = 0; i < pushed->tasks; i++)
		pushed->waiters[i].waits = account_of(pushed->waiters[i].pid);
}

/* The hog on this CPU keeps the tasks from running on it while their parent waits for the move. */
static void wait_and_push(struct pushed *pushed)
{
	uint64_t moved_ns = 0;
	pid_t hog;

	load__sleep(pushed->wait_ns);
	hog = start(pushed->here, HOG);
	load__sleep(SETTLE_NS);
	for (size_t i = 0; i < pushed->tasks; i++) {
		const struct waiter *waiter = &pushed->waiters[i];

		reference_bind(waiter->pid, pushed->here);
		reference_bind(waiter->pid, pushed->there);
		moved_ns +=
			reference_sched__since(waiter->waits, account_of(waiter->pid)).run_delay_ns;
	}
	reference_end(hog);
	check_waiters(pushed);
	printf("moved_ns=%lu\nwaited_ns=%lu\n", moved_ns, pushed->wait_ns);
}

static void let_run(struct pushed *pushed)
{
	uint64_t deadline = clock__now_ns() + 60 * NSEC_PER_SEC, run_delay_ns = 0;

	check_waiters(pushed);
	reference_end(pushed->hog);
	for (size_t i = 0; i < pushed->tasks; i++) {
		struct waiter *waiter = &pushed->waiters[i];

		while (!got_cpu(waiter)) {
			reference_must(clock__now_ns() <= deadline, "a task gets no CPU");
			load__sleep(NSEC_PER_MSEC);
		}
		kill(waiter->pid, SIGSTOP);
	}
	for (size_t i = 0; i < pushed->tasks; i++) {
		struct waiter *waiter = &pushed->waiters[i];

		waitpid(waiter->pid, NULL, WUNTRACED);
		run_delay_ns +=
			reference_sched__since(waiter->waits, account_of(waiter->pid)).run_delay_ns;
	}
	printf("run_delay_ns=%lu\n", run_delay_ns);
}

int main(int argc, char **argv)
{
	static struct pushed pushed;
	bool before, across;

	argv = reference_arguments(argc, argv, 3, "pushed [-w] before|across|within TASKS WAIT_MS");
	before = !strcmp(argv[0], "before");
	across = !strcmp(argv[0], "across");
	if (!before && !across && strcmp(argv[0], "within"))
		reference_die(REFERENCE_USAGE, "'%s' is not before, across or within", argv[0]);
	pushed.tasks = reference_number(argv[1], "TASKS", 1, MOST_TASKS);
	pushed.wait_ns = reference_time(argv[2], "WAIT_MS", NSEC_PER_MSEC);
	choose_cpus(&pushed);
	if (before || across)
		start_all(&pushed);
	if (before)
		wait_and_push(&pushed);
	reference_open();
	if (before) {
		let_run(&pushed);
	} else {
		if (!across)
			start_all(&pushed);
		wait_and_push(&pushed);
	}
	reference_close();
	if (!before)
		reference_end(pushed.hog); /* first: the others need its CPU to exit */
	for (size_t i = 0; i < pushed.tasks; i++)
		reference_end(pushed.waiters[i].pid);
	return 0;
}
