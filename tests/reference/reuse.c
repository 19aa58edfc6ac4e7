// SPDX-License-Identifier: BSD-2-Clause
/*
 * reuse [-w] COUNT: processes that have the same PID one after the other, several in a millisecond.
 *
 * Each runs for a moment, sleeps, and is reaped before the next one begins. All are on one CPU. If
 * another process takes the PID in between, another PID is used from then on. The reference is a
 * line for each PID: reused=, the PID, processes=, how often it was used, twice=, how many of these
 * got a CPU more than once, and of all lives ran_ns=, run_delay_life_ns= and pcount_life=, the
 * scheduler's account. It is read of zombies, so it is final.
 */

#include "reference.h"

#define WORK_NS 20000
#define SLEEP_NS 20000
#define MOST_PIDS 100 /* a machine that forks more than that at the same time is too busy */

static int last_pid;

/* The next process of this namespace has the PID, if no other one is made before. */
static void ask_for(pid_t pid)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", pid - 1);

	reference_must(pwrite(last_pid, text, length, 0) == length, "cannot write ns_last_pid: %m");
}

/* What all processes with one PID had. */
struct lives {
	uint64_t processes, twice;
	struct reference_sched sum;
};

static void add(struct lives *lives, struct reference_sched one)
{
	lives->processes++;
	lives->twice += one.pcount > 1;
	reference_add_sched(&lives->sum, one);
}

/* Returns the PID of a process that has lived; adds its account if that is `wanted`, or 0. */
static pid_t live(pid_t wanted, struct lives *lives)
{
	struct reference_sched one;
	pid_t pid;

	if (wanted)
		ask_for(wanted);
	pid = reference_fork();
	if (!pid) {
		load__spin(WORK_NS);
		load__sleep(SLEEP_NS);
		_exit(0);
	}
	reference_must(!waitid(P_PID, pid, NULL, WEXITED | WNOWAIT) &&
			       !reference_sched__read(pid, pid, &one),
		       "cannot read the account of process %d", pid);
	waitpid(pid, NULL, 0);
	if (!wanted || pid == wanted)
		add(lives, one);
	return pid;
}

/* Uses a PID up to `count` times, returns how often. */
static uint64_t use_one_pid(uint64_t count)
{
	struct lives lives = {};
	pid_t pid = live(0, &lives);

	while (lives.processes < count && live(pid, &lives) == pid)
		;
	printf("reused=%d processes=%lu twice=%lu ", pid, lives.processes, lives.twice);
	printf("ran_ns=%lu run_delay_life_ns=%lu pcount_life=%lu\n", lives.sum.ran_ns,
	       lives.sum.run_delay_ns, lives.sum.pcount);
	return lives.processes;
}

int main(int argc, char **argv)
{
	uint64_t count, used = 0;
	int pids = 0;

	argv = reference_arguments(argc, argv, 1, "reuse [-w] COUNT");
	count = reference_number(argv[0], "COUNT", 1, 100000);
	last_pid = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	reference_need(last_pid >= 0, "cannot set ns_last_pid: %m");
	load__pin(load__cpu_from_end(0));
	prctl(PR_SET_TIMERSLACK, 1UL); /* else each sleeps for much longer */
	reference_open();
	while (used < count && pids++ < MOST_PIDS)
		used += use_one_pid(count - used);
	reference_must(used >= count, "other processes took the PIDs, again and again");
	reference_close();
	return 0;
}
