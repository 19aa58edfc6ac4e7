// SPDX-License-Identifier: BSD-2-Clause
#include "culprits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sched.h"

#define TURN_NS (5 * NSEC_PER_MSEC)
#define MOVE_NS (2 * NSEC_PER_MSEC)
#define IDLE_NS (NSEC_PER_MSEC / 5)
#define NAP_NS (2 * NSEC_PER_MSEC)
#define BUDGET_NS (5 * NSEC_PER_MSEC)
#define BRIEF_NS (2 * NSEC_PER_MSEC)
#define FLOOD_NICE (-10) /* the kernel may leave softirqs to ksoftirqd, which must not starve */
#define PERIOD_NS (20 * NSEC_PER_MSEC)

/* Of one of the processes. The first error stays. */
static _Noreturn void fail(struct reference_culprits *all, const char *what)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&all->err, &none, -EOPNOTSUPP))
		reference__fail(all->why, -EOPNOTSUPP, "%s: %s", what, strerror(errno));
	_exit(1);
}

static bool is(const struct reference_culprits *all, const char *shape)
{
	return !strcmp(all->shape, shape);
}

static void spin_until(uint64_t ns)
{
	while (clock__now_ns() < ns)
		;
}

/* For a third of the time, in turns. */
static void take_turns(struct reference_culprits *all, uint64_t end)
{
	uint64_t start;

	while ((start = clock__now_ns()) < end) {
		atomic_store(&all->turn_ns, start);
		if (is(all, "woken") && write(all->bell[1], "", 1) != 1)
			fail(all, "cannot wake the victim up");
		spin_until(start + TURN_NS);
		atomic_store(&all->turn_ns, 0);
		load__sleep(2 * TURN_NS);
	}
}

static void *second_thread(void *end)
{
	spin_until(*(uint64_t *)end);
	return NULL;
}

static bool has_turns(const struct reference_culprits *all)
{
	return is(all, "realtime") || is(all, "moved") || is(all, "woken");
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

static void note_gaps(struct reference_culprits *all, uint64_t end)
{
	uint64_t now;

	for (uint64_t before = clock__now_ns(); before < end; before = now) {
		now = clock__now_ns();
		if (now - before > NSEC_PER_MSEC)
			all->gaps_ns += now - before;
	}
}

static void take_what_is_granted(struct reference_culprits *all, uint64_t end)
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
	cpu_set_t any;

	/* The kernel grants it only to those that may use all CPUs. */
	memset(&any, -1, sizeof(any));
	if (sched_setaffinity(0, sizeof(any), &any))
		fail(all, "cannot use all CPUs");
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		fail(all, "cannot have a deadline");
	note_gaps(all, end);
}

static void be_realtime(struct reference_culprits *all)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		fail(all, "cannot use SCHED_FIFO");
}

static void run_two_threads(struct reference_culprits *all, uint64_t end)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, second_thread, &end))
		fail(all, "cannot create a thread");
	spin_until(end);
	pthread_join(thread, NULL);
}

static void be_victim(struct reference_culprits *all, uint64_t end)
{
	char byte;

	if (is(all, "woken")) {
		while (read(all->bell[0], &byte, 1) == 1)
			;
	} else if (is(all, "idle") || is(all, "held")) {
		nap(end, IDLE_NS);
	} else if (is(all, "napping")) {
		nap(end, NAP_NS);
	} else if (is(all, "deadline")) {
		take_what_is_granted(all, end);
	} else if (is(all, "limited")) {
		note_gaps(all, end);
	} else if (is(all, "own")) {
		run_two_threads(all, end);
	} else {
		spin_until(end);
	}
}

static uint64_t ran_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (uint64_t)at.tv_sec * NSEC_PER_SEC + (uint64_t)at.tv_nsec;
}

static uint64_t waited_ns(void)
{
	struct reference_sched sched = { 0 };

	reference_sched__read(getpid(), getpid(), &sched);
	return sched.run_delay_ns;
}

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NSEC_PER_SEC + (uint64_t)time->tv_usec * 1000;
}

static void start_brief_ones(struct reference_culprits *all, uint64_t end)
{
	struct rusage used;
	pid_t pid;

	while (clock__now_ns() < end) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_NAME, "brief");
			while (ran_ns() < BRIEF_NS)
				;
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			fail(all, "cannot start a process and wait for it");
		all->briefs++;
	}
	getrusage(RUSAGE_CHILDREN, &used);
	all->briefs_ran_ns = time_ns(&used.ru_utime) + time_ns(&used.ru_stime);
}

static void be_culprit(struct reference_culprits *all, unsigned int which, uint64_t end)
{
	bool first = which == 1;

	if (has_turns(all))
		take_turns(all, end);
	else if (is(all, "churn"))
		start_brief_ones(all, end);
	else if (is(all, "flood"))
		reference_flood__run(&all->flood, end);
	else if (is(all, "pingpong"))
		play(end, first ? all->pong[0] : all->ping[0], first ? all->ping[1] : all->pong[1]);
	else
		spin_until(end);
}

static void enter_cgroup(struct reference_culprits *all)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", all->cgroup);
	file = fopen(path, "we");
	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file))
		fail(all, "cannot enter the cgroup");
}

/* It takes its name at the end: what it waited for before is no part of the situation. */
static void become(struct reference_culprits *all, unsigned int which)
{
	static const char *const names[] = { "victim", "hog1", "hog2" };
	const char *name = which > 1 && is(all, "crowd") ? "crowd" : names[which];
	bool floods = which && is(all, "flood");

	if (which ? has_turns(all) : is(all, "limited"))
		be_realtime(all);
	/* The weights of two such priorities are 3.05 to 1. */
	if (which == 2 && is(all, "two") && nice(5) == -1)
		fail(all, "cannot set the priority");
	if (!which && is(all, "pingpong") &&
	    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }))
		fail(all, "cannot use SCHED_IDLE");
	if (!which && is(all, "quota"))
		enter_cgroup(all);
	if (floods && (errno = -reference_flood__prepare(&all->flood)))
		fail(all, "cannot send to this machine");
	prctl(PR_SET_NAME, floods ? "sender" : !which && is(all, "held") ? "held" : name);
}

/*
 * Returns when the work ends. A crowd that looked again and again would have the CPU before it
 * begins; others do, so that no task wakes them up.
 */
static uint64_t await_start(struct reference_culprits *all)
{
	uint64_t end;
	char byte;

	while (is(all, "crowd") && read(all->go[0], &byte, 1) < 0 && errno == EINTR)
		;
	while (!(end = atomic_load(&all->end_ns)))
		load__sleep(NSEC_PER_MSEC);
	return end;
}

/* An exit takes CPU time, too, in which others may still wait: all exit when all have ended. */
static _Noreturn void end_work(struct reference_culprits *all)
{
	close(all->bell[1]); /* the victim reads until its end */
	close(all->done[1]);
	reference_sched__park_end();
}

/*
 * By its clock, or by what it did: with accounting of interrupt time, the kernel leaves softirqs
 * out of the clock.
 */
static uint64_t had_ns(const struct reference_culprits *all, unsigned int which, uint64_t ran)
{
	uint64_t least = which ? reference_flood__least_ns(&all->flood) : 0;

	return ran > least ? ran : least;
}

static _Noreturn void live(struct reference_culprits *all, unsigned int which)
{
	uint64_t end, before, waited;

	become(all, which);
	close(all->go[1]); /* before: the parent is the last one, and wakes all up */
	close(all->bell[!which]);
	close(which == 1 ? all->pong[1] : all->ping[1]);
	if (!which)
		close(all->pong[1]);
	signal(SIGPIPE, SIG_IGN);
	close(all->ready[1]);
	end = await_start(all);
	before = ran_ns();
	waited = waited_ns();
	if (which)
		be_culprit(all, which, end);
	else
		be_victim(all, end);
	if (!which)
		all->waited_ns = waited_ns() - waited;
	all->all_ns[which] = ran_ns();
	all->ran_ns[which] = had_ns(all, which, all->all_ns[which] - before);
	end_work(all);
}

/* In a session of its own, it does not have the weight of the others. */
static _Noreturn void stand_by(struct reference_culprits *all)
{
	prctl(PR_SET_NAME, "bystander");
	setsid();
	setpriority(PRIO_PROCESS, 0, 10);
	load__pin(all->aside);
	close(all->go[1]); /* before: the parent is the last one, and wakes all up */
	close(all->ready[1]);
	spin_until(await_start(all));
	end_work(all);
}

static void bind_to(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(pid, sizeof(set), &set);
}

/* Runs on the other CPU, which the victim gets at once. */
static void move(struct reference_culprits *all, uint64_t end)
{
	uint64_t turn, now;

	while ((now = clock__now_ns()) < end) {
		turn = atomic_load(&all->turn_ns);
		if (!turn || now < turn + MOVE_NS) {
			load__sleep(NSEC_PER_MSEC / 10);
			continue;
		}
		all->moved_most_ns += now - turn;
		bind_to(all->pids[0], !all->cpu);
		if (atomic_load(&all->turn_ns) == turn)
			all->moved_least_ns += now - turn;
		all->moved_most_ns += clock__now_ns() - now;
		while (atomic_load(&all->turn_ns))
			load__sleep(NSEC_PER_MSEC / 2);
		bind_to(all->pids[0], all->cpu);
	}
}

static unsigned int count_processes(const struct reference_culprits *all)
{
	if (is(all, "crowd"))
		return 2 + REFERENCE_CROWD;
	if (is(all, "two") || is(all, "pingpong"))
		return 3;
	return is(all, "one") || is(all, "flood") || is(all, "churn") || is(all, "napping") ||
			       is(all, "limited") || has_turns(all)
		       ? 2
		       : 1;
}

static void await_close(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

/*
 * Returns when it is ready, so that none of them waits for a CPU before the work begins. All but
 * the bystander begin on the CPU that they need: then they are on no other. This process leaves
 * it at once: what it does is no part of the situation.
 */
static int start_one(struct reference_culprits *all, unsigned int which, pid_t *at)
{
	pid_t pid;

	if (pipe2(all->ready, O_CLOEXEC))
		return reference__fail(all->why, -errno, "cannot create a pipe: %s",
				       strerror(errno));
	if (at != &all->bystander_pid && load__pin(all->cpu))
		return reference__fail(all->why, -EOPNOTSUPP, "cannot run on the CPU: %s",
				       strerror(errno));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (at == &all->bystander_pid)
			stand_by(all);
		live(all, which);
	}
	load__pin(all->aside);
	close(all->ready[1]);
	if (pid > 0)
		await_close(all->ready[0]);
	close(all->ready[0]);
	if (pid < 0)
		return reference__fail(all->why, -errno, "cannot fork: %s", strerror(errno));
	*at = pid;
	return atomic_load(&all->err);
}

/* The victim's, if there is no other one. */
static int find_other_cpu(int cpu)
{
	int found = cpu;

	for (unsigned int i = 0; found == cpu && i < load__cpus(); i++)
		found = load__cpu_from_end(i);
	return found;
}

/* The victim is the last one: it waits for no start of another one. */
static int start_all(struct reference_culprits *all)
{
	int err = 0;

	all->aside = find_other_cpu(all->cpu);
	reference_sched__weigh(is(all, "flood") ? FLOOD_NICE : -20);
	if (all->bystander && all->aside != all->cpu)
		err = start_one(all, 0, &all->bystander_pid);
	for (unsigned int i = all->processes; !err && i--;)
		err = start_one(all, i, &all->pids[i]);
	if (is(all, "moved"))
		load__pin(!all->cpu);
	return err;
}

static void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int reference_culprits__prepare(struct reference_culprits *all)
{
	int err;

	all->processes = count_processes(all);
	if (pipe2(all->go, O_CLOEXEC) || pipe2(all->done, O_CLOEXEC) ||
	    pipe2(all->bell, O_CLOEXEC) || pipe2(all->ping, O_CLOEXEC) ||
	    pipe2(all->pong, O_CLOEXEC))
		return reference__fail(all->why, -errno, "cannot create a pipe: %s",
				       strerror(errno));
	err = start_all(all);
	close(all->done[1]);
	close(all->bell[0]);
	close(all->bell[1]);
	close(all->ping[1]);
	close(all->pong[1]);
	return err;
}

int reference_culprits__run(struct reference_culprits *all)
{
	uint64_t start, before = 0;

	all->has_cpu_ran = reference_sched__cpu(all->cpu, &before);
	start = clock__now_ns();
	atomic_store(&all->end_ns, start + all->duration_ns);
	close(all->go[1]);
	if (is(all, "moved"))
		move(all, start + all->duration_ns);
	await_close(all->done[0]);
	all->elapsed_ns = clock__now_ns() - start;
	all->has_cpu_ran &= reference_sched__cpu(all->cpu, &all->cpu_ran_ns);
	all->cpu_ran_ns -= before;
	for (unsigned int i = 0; i < all->processes; i++)
		reap(all->pids[i]);
	if (all->bystander_pid)
		reap(all->bystander_pid);
	return atomic_load(&all->err);
}
