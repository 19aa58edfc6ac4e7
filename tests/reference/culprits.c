// SPDX-License-Identifier: BSD-2-Clause
/*
 * culprits SHAPE CPU MS [CGROUP]: a process "victim" that waits for CPU, and why it waits.
 *
 *   one       a process "hog1" always wants the CPU, too
 *   two       "hog1" and "hog2" do, and hog1 gets about three times as much as hog2
 *   realtime  "hog1" (SCHED_FIFO) has the CPU for 5 ms of every 15
 *   woken     as in realtime; at the start of each turn the hog wakes the victim up, which sleeps
 *             otherwise
 *   idle      nothing else: the victim sleeps, and the CPU is idle until it wakes up
 *   held      the same, but it is called "held"
 *   napping   the victim sleeps for 2 ms again and again; "hog1" always wants the CPU
 *   pingpong  "hog1" and "hog2" wake each other up all the time; the victim gets what they leave
 *             (SCHED_IDLE)
 *   deadline  nothing else: the victim always wants the CPU, but may have it for 5 ms of every 20
 *             (SCHED_DEADLINE)
 *   limited   the victim (SCHED_FIFO) and "hog1" always want the CPU: the kernel keeps a part of
 *             each second for hog1, because real-time tasks have a limit
 *   own       a second thread of the victim always wants the CPU
 *   moved     "hog1" as in realtime; after 2 ms of each turn the victim is bound to another CPU,
 *             and back when the turn is over
 *   crowd     "hog1", and 80 processes "crowd" of a third of its weight; the victim has three
 *             times its weight
 *   churn     "hog1" starts a process "brief" again and again, and waits until it has run for 2 ms
 *   quota     nothing else: CGROUP is a directory whose cgroup.procs the victim enters
 *
 * Prints victim_pid=, hog1_pid= ..., and for each process what it used of the CPU by its own clock,
 * hog1_ran_ns=, with crowd and churn also the sum of the others, crowd_ran_ns= or brief_ran_ns=;
 * for the victim also how long it waited for a CPU by the kernel's account of it,
 * victim_waited_ns=. With moved, also how long the victim waited before it was moved, which is from
 * the start of a turn to the move, by the clock of the one that moves: moved_least_ns= is of the
 * moves that were over before the turn was, moved_most_ns= of all. With deadline and limited,
 * gaps_ns= is how long the victim did not run, by its own clock. Everything else on that CPU is
 * outweighed.
 */
#include "reference.h"

#define CROWD 80
#define PROCESSES (2 + CROWD)
#define BRIEF_NS (2 * NSEC_PER_MSEC)
#define TURN_NS (5 * NSEC_PER_MSEC)
#define MOVE_NS (2 * NSEC_PER_MSEC)
#define IDLE_NS (NSEC_PER_MSEC / 5)
#define NAP_NS (2 * NSEC_PER_MSEC)
#define BUDGET_NS (5 * NSEC_PER_MSEC)
#define PERIOD_NS (20 * NSEC_PER_MSEC)

struct shared {
	_Atomic uint64_t end_ns; /* 0: not yet */
	_Atomic uint64_t turn_ns; /* when the turn of the hog began; 0: it sleeps */
	uint64_t ran_ns[PROCESSES], waited_ns[PROCESSES]; /* the latter by the kernel */
	uint64_t moved_least_ns, moved_most_ns, gaps_ns, brief_ns, briefs;
};

static struct shared *shared;
static const char *shape;
static int cpu;
static int bell[2]; /* a pipe by which the hog wakes up the victim */
static int ping[2], pong[2]; /* by which hogs wake each other up */
static int go[2]; /* closed when the work begins */

static bool is(const char *name)
{
	return !strcmp(shape, name);
}

static void spin_until(uint64_t ns)
{
	while (clock__now_ns() < ns)
		;
}

/* For a third of the time, in turns. */
static void take_turns(uint64_t end)
{
	uint64_t start;

	while ((start = clock__now_ns()) < end) {
		atomic_store(&shared->turn_ns, start);
		if (is("woken") && write(bell[1], "", 1) != 1)
			_exit(REFERENCE_FAILED);
		spin_until(start + TURN_NS);
		atomic_store(&shared->turn_ns, 0);
		load__sleep(2 * TURN_NS);
	}
}

static void *second_thread(void *end)
{
	spin_until(*(uint64_t *)end);
	return NULL;
}

static bool has_turns(void)
{
	return is("realtime") || is("moved") || is("woken");
}

static void nap(uint64_t end, uint64_t ns)
{
	while (clock__now_ns() < end)
		load__sleep(ns);
}

/* The one that ends first closes its end: the other one reads no more. */
static void play(uint64_t end, int from, int to)
{
	char ball = 0;

	do {
		if (write(to, &ball, 1) != 1)
			break;
	} while (clock__now_ns() < end && read(from, &ball, 1) == 1);
	close(to);
}

static void note_gaps(uint64_t end)
{
	uint64_t now;

	for (uint64_t before = clock__now_ns(); before < end; before = now) {
		now = clock__now_ns();
		if (now - before > NSEC_PER_MSEC)
			shared->gaps_ns += now - before;
	}
}

static void take_what_is_granted(uint64_t end)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr),
		   .policy = 6, /* SCHED_DEADLINE */
		   .runtime = BUDGET_NS,
		   .deadline = PERIOD_NS,
		   .period = PERIOD_NS };
	cpu_set_t all;

	memset(&all, -1,
	       sizeof(all)); /* the kernel grants it only to those that may use all CPUs */
	reference_need(!sched_setaffinity(0, sizeof(all), &all), "cannot use all CPUs: %m");
	reference_need(!syscall(SYS_sched_setattr, 0, &attr, 0), "cannot have a deadline: %m");
	note_gaps(end);
}

/* By their own clock, and by the kernel's account of the processes that have ended. */
static void start_brief_ones(uint64_t end)
{
	struct rusage used;
	pid_t pid;

	while (clock__now_ns() < end) {
		pid = reference_fork();
		if (!pid) {
			prctl(PR_SET_NAME, "brief");
			while (reference_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < BRIEF_NS)
				;
			_exit(0);
		}
		reference_need(waitpid(pid, NULL, 0) == pid, "cannot wait for a process: %m");
		shared->briefs++;
	}
	reference_need(!getrusage(RUSAGE_CHILDREN, &used), "cannot tell what they used: %m");
	shared->brief_ns =
		((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * NSEC_PER_SEC +
		((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * 1000;
}

static void work(int which, uint64_t end)
{
	bool victim = !which;
	pthread_t thread;
	char byte;

	if (!victim && has_turns()) {
		take_turns(end);
	} else if (is("woken")) {
		while (read(bell[0], &byte, 1) == 1)
			;
	} else if (victim && (is("idle") || is("held"))) {
		nap(end, IDLE_NS);
	} else if (victim && is("napping")) {
		nap(end, NAP_NS);
	} else if (victim && is("deadline")) {
		take_what_is_granted(end);
	} else if (victim && is("limited")) {
		note_gaps(end);
	} else if (!victim && is("churn")) {
		start_brief_ones(end);
	} else if (!victim && is("pingpong")) {
		play(end, which == 1 ? pong[0] : ping[0], which == 1 ? ping[1] : pong[1]);
	} else if (victim && is("own")) {
		if (pthread_create(&thread, NULL, second_thread, &end))
			_exit(REFERENCE_FAILED);
		spin_until(end);
		pthread_join(thread, NULL);
	} else {
		spin_until(end);
	}
}

static void prepare(int which, const char *cgroup)
{
	char path[256];
	FILE *file;

	if (which ? has_turns() : is("limited"))
		reference_be_realtime(1);
	if (which == 2 && is("two") &&
	    nice(5) == -1) /* the weights of two such priorities are 3.05 to 1 */
		reference_die(REFERENCE_FAILED, "cannot set the priority");
	if (which && is("crowd") && nice(which == 1 ? 5 : 10) == -1)
		reference_die(REFERENCE_FAILED, "cannot set the priority");
	if (!which && is("pingpong"))
		reference_need(!sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }),
			       "cannot be of the lowest policy: %m");
	if (which || !is("quota"))
		return;
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	file = fopen(path, "we");
	reference_need(file && fprintf(file, "%d\n", getpid()) >= 0 && !fclose(file),
		       "cannot enter %s: %m", cgroup);
}

/* 0 where the kernel has no account. */
static uint64_t own_waits(void)
{
	struct reference_sched sched = { 0 };

	reference_sched__read(getpid(), getpid(), &sched);
	return sched.run_delay_ns;
}

/* So many that look again and again would have the CPU before the work begins. Returns its end. */
static uint64_t await_begin(void)
{
	uint64_t end;
	char byte;

	close(go[1]);
	if (is("crowd"))
		(void)!read(go[0], &byte, 1);
	while (!(end = atomic_load(&shared->end_ns)))
		load__sleep(NSEC_PER_MSEC);
	return end;
}

static const char *name_of(int which)
{
	static const char *const names[] = { "victim", "hog1", "hog2" };

	if (!which && is("held"))
		return "held";
	return which > 1 && is("crowd") ? "crowd" : names[which];
}

static _Noreturn void live(int which, const char *cgroup, int ready)
{
	uint64_t end, before, waited_ns;

	prctl(PR_SET_NAME, name_of(which));
	load__pin(cpu);
	prepare(which, cgroup);
	close(ready); /* the last one ends the wait of the parent */
	close(bell[!which]);
	close(which == 1 ? pong[1] : ping[1]);
	if (!which)
		close(pong[1]);
	signal(SIGPIPE, SIG_IGN);
	end = await_begin();
	before = reference_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	waited_ns = own_waits();
	work(which, end);
	shared->waited_ns[which] = own_waits() - waited_ns;
	shared->ran_ns[which] = reference_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
	_exit(0);
}

/* Runs on the other CPU, which the victim gets at once. */
static void move(pid_t victim, uint64_t end)
{
	uint64_t turn, now;

	while ((now = clock__now_ns()) < end) {
		turn = atomic_load(&shared->turn_ns);
		if (!turn || now < turn + MOVE_NS) {
			load__sleep(NSEC_PER_MSEC / 10);
			continue;
		}
		shared->moved_most_ns += now - turn;
		reference_bind(victim, !cpu);
		if (atomic_load(&shared->turn_ns) == turn)
			shared->moved_least_ns += now - turn;
		shared->moved_most_ns += clock__now_ns() - now;
		while (atomic_load(&shared->turn_ns))
			load__sleep(NSEC_PER_MSEC / 2);
		reference_bind(victim, cpu);
	}
}

static int count_processes(void)
{
	if (is("crowd"))
		return PROCESSES;
	if (is("two") || is("pingpong"))
		return 3;
	return is("one") || is("churn") || is("napping") || is("limited") || has_turns() ? 2 : 1;
}

int main(int argc, char **argv)
{
	int processes, ready[2], status, failed = 0;
	pid_t pids[PROCESSES];
	uint64_t ms, end, crowd_ns = 0;
	char byte;

	reference_usage(argc == 4 || argc == 5, "culprits SHAPE CPU MS [CGROUP]");
	shape = argv[1];
	cpu = (int)reference_number(argv[2], "CPU", 0, CPU_SETSIZE - 1);
	ms = reference_number(argv[3], "MS", 1, 100000);
	processes = count_processes();
	shared = reference_share(sizeof(*shared));
	reference_pipe(ready);
	reference_pipe(bell);
	reference_pipe(ping);
	reference_pipe(pong);
	reference_pipe(go);
	reference_sched__outweigh();
	for (int i = 0; i < processes; i++) {
		pids[i] = reference_fork();
		if (!pids[i])
			live(i, argv[4], ready[1]);
	}
	close(ready[1]);
	close(bell[0]);
	close(bell[1]);
	close(ping[1]);
	close(pong[1]);
	if (is("moved"))
		load__pin(!cpu);
	while (read(ready[0], &byte, 1) > 0)
		;
	end = clock__now_ns() + ms * NSEC_PER_MSEC;
	atomic_store(&shared->end_ns, end);
	close(go[1]);
	if (is("moved"))
		move(pids[0], end);
	for (int i = 0; i < processes; i++) {
		waitpid(pids[i], &status, 0);
		if (status && !failed)
			failed = WIFEXITED(status) ? WEXITSTATUS(status) : REFERENCE_FAILED;
	}
	printf("victim_pid=%d\nvictim_ran_ns=%lu\nvictim_waited_ns=%lu\ngaps_ns=%lu\n", pids[0],
	       shared->ran_ns[0], shared->waited_ns[0], shared->gaps_ns);
	printf("moved_least_ns=%lu\nmoved_most_ns=%lu\n", shared->moved_least_ns,
	       shared->moved_most_ns);
	printf("brief_ran_ns=%lu\nbriefs=%lu\n", shared->brief_ns, shared->briefs);
	for (int i = 2; i < processes; i++)
		crowd_ns += shared->ran_ns[i];
	printf("crowd_ran_ns=%lu\n", crowd_ns);
	for (int i = 1; i < processes && i < 3; i++)
		printf("hog%d_pid=%d\nhog%d_ran_ns=%lu\n", i, pids[i], i, shared->ran_ns[i]);
	return failed;
}
