// SPDX-License-Identifier: BSD-2-Clause
/*
 * sched SEED MS [CGROUP]: processes that do to the scheduler whatever the seed says, for so long.
 * Prints the TID of every thread that it has made. In CGROUP, a directory of cgroup v2 that is its
 * own, tasks move between two groups, one of which has half a CPU.
 */
#include <linux/futex.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "random.h"

#define ACTORS 5
#define MOST_TIDS 60000
#define GROUPS 2

/* Shared by all processes. */
struct shared {
	unsigned int nr_tids;
	pid_t tids[MOST_TIDS];
	pid_t actors[ACTORS];
	uint32_t futex;
};

struct actor {
	struct shared *shared;
	unsigned int number;
	uint64_t seed, until_ns;
	int to_next, from_last; /* pipes in a ring */
	const char *cgroup; /* NULL: none */
};

extern char **environ;

static void note_tid(struct shared *shared)
{
	unsigned int at = __atomic_fetch_add(&shared->nr_tids, 1, __ATOMIC_RELAXED);

	if (at < MOST_TIDS)
		shared->tids[at] = gettid();
}

/* Or itself, if that one is not there yet. */
static pid_t another(struct actor *self)
{
	pid_t pid = self->shared->actors[draw_below(&self->seed, ACTORS)];

	return pid ? pid : getpid();
}

static void act_spin(struct actor *self)
{
	load__spin(draw_octaves(&self->seed, 10000, 9)); /* to 5 ms */
}

static void act_sleep(struct actor *self)
{
	load__sleep(draw_octaves(&self->seed, 1000, 12));
}

static void act_yield(struct actor *self)
{
	for (unsigned int i = draw_below(&self->seed, 50); i; i--)
		sched_yield();
}

static void act_fork(struct actor *self)
{
	uint64_t busy = draw_octaves(&self->seed, 1000, 11);
	pid_t pid = fork();

	if (!pid) {
		note_tid(self->shared);
		load__spin(busy);
		_exit(0);
	}
	if (pid > 0 && draw_below(&self->seed, 2))
		waitpid(pid, NULL, 0);
}

/* It ends while it runs, waits for a CPU, or sleeps: whatever it is at. */
static void act_kill(struct actor *self)
{
	uint64_t delay = draw_octaves(&self->seed, 1000, 11);
	bool busy = draw_below(&self->seed, 2);
	pid_t pid = fork();

	if (!pid) {
		note_tid(self->shared);
		for (;;)
			busy ? (void)load__spin(1000000) : load__sleep(10000);
	}
	load__sleep(delay);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* The child of vfork() has the parent's memory until it becomes another program. */
static void act_exec(struct actor *self)
{
	char *const argv[] = { "true", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		return;
	waitpid(pid, NULL, 0);
}

static void *run_thread(void *arg)
{
	struct actor *self = arg;
	uint64_t seed = self->seed;

	note_tid(self->shared);
	for (unsigned int i = draw_below(&seed, 20); i; i--) {
		load__spin(draw_octaves(&seed, 1000, 10));
		sched_yield();
	}
	return NULL;
}

static void act_threads(struct actor *self)
{
	unsigned int nr = 1 + draw_below(&self->seed, 4);
	pthread_t threads[4];

	for (unsigned int i = 0; i < nr; i++) {
		if (pthread_create(&threads[i], NULL, run_thread, self))
			nr = i;
	}
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

/* Of itself or of another one, which may be asleep, waiting or running. */
static void act_affinity(struct actor *self)
{
	pid_t who = draw_below(&self->seed, 2) ? another(self) : 0;
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		if (draw_below(&self->seed, 2))
			CPU_SET(cpu, &set);
	}
	sched_setaffinity(who, sizeof(set), &set); /* none: refused, and as good */
}

static void act_nice(struct actor *self)
{
	setpriority(PRIO_PROCESS, (id_t)another(self), (int)draw_below(&self->seed, 40) - 20);
}

static void act_policy(struct actor *self)
{
	static const int policies[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO,
					SCHED_RR };
	unsigned int choice = draw_below(&self->seed, 5);
	const struct sched_param ordinary = { 0 }, real_time = { .sched_priority = 1 };

	if (sched_setscheduler(0, policies[choice], choice < 3 ? &ordinary : &real_time) ||
	    choice < 3)
		return;
	load__spin(draw_octaves(&self->seed, 10000, 6));
	sched_setscheduler(0, SCHED_OTHER, &ordinary);
}

static void act_pipe(struct actor *self)
{
	char bytes[64];
	ssize_t ignored;

	for (unsigned int i = draw_below(&self->seed, 30); i; i--) {
		ignored = write(self->to_next, bytes, 1 + draw_below(&self->seed, 8));
		ignored = read(self->from_last, bytes, sizeof(bytes)); /* they do not block */
		if (ignored < 0)
			load__sleep(1000);
	}
}

static void act_futex(struct actor *self)
{
	const struct timespec limit = { .tv_nsec = 2000000 };
	uint32_t *futex = &self->shared->futex;

	if (draw_below(&self->seed, 2))
		syscall(SYS_futex, futex, FUTEX_WAKE, 10, NULL, NULL, 0);
	else
		syscall(SYS_futex, futex, FUTEX_WAIT, *futex, &limit, NULL, 0);
}

static void act_signal(struct actor *self)
{
	kill(another(self), SIGUSR1);
}

/* Not at one another: nobody would be left who lets them go on. */
static void act_stop(struct actor *self)
{
	pid_t who = self->shared->actors[ACTORS - 1];

	if (self->number != 0 || !who)
		return;
	kill(who, SIGSTOP);
	load__sleep(draw_octaves(&self->seed, 10000, 8));
	kill(who, SIGCONT);
}

static void act_timer(struct actor *self)
{
	const struct itimerval timer = {
		.it_value.tv_usec = 1 + draw_below(&self->seed, 3000),
		.it_interval.tv_usec = draw_below(&self->seed, 2) ? 500 : 0,
	};

	setitimer(ITIMER_REAL, &timer, NULL);
	load__spin(draw_octaves(&self->seed, 10000, 7));
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

static void act_cgroup(struct actor *self)
{
	char group[16];
	char dir[4096];

	if (!self->cgroup)
		return;
	snprintf(group, sizeof(group), "%u", draw_below(&self->seed, GROUPS));
	snprintf(dir, sizeof(dir), "%s/%s", self->cgroup, group);
	write_text(dir, "cgroup.procs", "0");
}

static void (*const acts[])(struct actor *self) = {
	act_spin,  act_spin,	act_sleep,    act_sleep, act_yield,  act_fork,
	act_exec,  act_threads, act_affinity, act_nice,	 act_policy, act_pipe,
	act_futex, act_signal,	act_stop,     act_timer, act_cgroup, act_kill,
};

static void ignore_signal(int signal)
{
}

static void run_actor(struct actor *self)
{
	const struct sigaction ignore = { .sa_handler = ignore_signal };

	sigaction(SIGUSR1, &ignore, NULL);
	sigaction(SIGALRM, &ignore, NULL);
	note_tid(self->shared);
	self->shared->actors[self->number] = getpid();
	self->seed += self->number;
	draw(&self->seed);
	while (clock__now_ns() < self->until_ns)
		acts[draw_below(&self->seed, sizeof(acts) / sizeof(acts[0]))](self);
	exit(0);
}

static void make_cgroups(const char *cgroup)
{
	char path[4096];

	write_text(cgroup, "cgroup.subtree_control", "+cpu");
	for (unsigned int i = 0; i < GROUPS; i++) {
		snprintf(path, sizeof(path), "%s/%u", cgroup, i);
		mkdir(path, 0755);
	}
	write_text(path, "cpu.max", "10000 20000");
}

/* Those that were made by actors, too: they are ours when their parent has ended. */
static void wait_for_all(struct shared *shared)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
		for (unsigned int i = 0; i < ACTORS; i++) {
			if (shared->actors[i])
				kill(shared->actors[i], SIGCONT);
		}
	}
}

int main(int argc, char **argv)
{
	struct actor actor = { 0 };
	int pipes[ACTORS][2];

	if (argc < 3) {
		fprintf(stderr, "usage: sched SEED MS [CGROUP]\n");
		return 2;
	}
	actor.shared = reference_share(sizeof(*actor.shared));
	reference_must(!prctl(PR_SET_CHILD_SUBREAPER, 1), "cannot reap: %m");
	actor.cgroup = argc > 3 ? argv[3] : NULL;
	if (actor.cgroup)
		make_cgroups(actor.cgroup);
	actor.seed = strtoull(argv[1], NULL, 0) * ACTORS;
	actor.until_ns = clock__now_ns() + strtoull(argv[2], NULL, 0) * 1000000;
	for (unsigned int i = 0; i < ACTORS; i++) {
		if (pipe2(pipes[i], O_CLOEXEC | O_NONBLOCK))
			return 1;
	}
	for (unsigned int i = 0; i < ACTORS; i++) {
		actor.number = i;
		actor.to_next = pipes[i][1];
		actor.from_last = pipes[(i + ACTORS - 1) % ACTORS][0];
		if (!fork())
			run_actor(&actor);
	}
	wait_for_all(actor.shared);
	for (unsigned int i = 0; i < actor.shared->nr_tids && i < MOST_TIDS; i++)
		printf("%d\n", actor.shared->tids[i]);
	return 0;
}
