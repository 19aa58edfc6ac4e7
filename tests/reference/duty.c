// SPDX-License-Identifier: BSD-2-Clause
/*
 * duty SECONDS [SCALE]: processes that use a known part of a CPU, second by second.
 *
 * Four processes, two on each of two CPUs (all on one, if there is no other), work for a share of
 * periods of their own, of 4 to 20 ms times SCALE, which is 1 to 10. In the last 200 ms of every
 * second all of them sleep, and while they do, the program reads their
 * /proc/PID/task/PID/schedstat, which is then final. So whatever a process had of the CPU from one
 * full second to the next is the difference of two readings, and no part of it lies near the edge.
 *
 * Prints a line for each process and second: pid=, start_ns= and end_ns= (CLOCK_MONOTONIC, whole
 * milliseconds), ran_ns=. A second in which a process or the program came late to its rest is left
 * out and counted: late=. steal_ns= is what the CPUs' hypervisor took from them, which schedstat
 * leaves out. The first second is for settling and has no line.
 */
#include "reference.h"

#define CHILDREN 4
#define REST_NS (200 * NSEC_PER_MSEC) /* at the end of a second */
#define LOOK_NS (120 * NSEC_PER_MSEC) /* before its end */
#define MOST_SECONDS 3600

static const struct {
	uint64_t period_ns;
	unsigned int percent;
} duties[CHILDREN] = {
	{ 4 * NSEC_PER_MSEC, 15 },
	{ 7 * NSEC_PER_MSEC, 25 },
	{ 11 * NSEC_PER_MSEC, 35 },
	{ 20 * NSEC_PER_MSEC, 45 },
};

static void sleep_until(uint64_t ns)
{
	struct timespec at = clock__timespec(ns);

	while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) &&
	       errno == EINTR)
		;
}

static _Noreturn void work(unsigned int which, uint64_t scale, uint64_t start, uint64_t seconds)
{
	uint64_t period = duties[which].period_ns * scale,
		 busy = period * duties[which].percent / 100;

	load__pin(reference_cpu(which % 2));
	for (uint64_t second = start; second < start + seconds * NSEC_PER_SEC;
	     second += NSEC_PER_SEC) {
		uint64_t rest = second + NSEC_PER_SEC - REST_NS;

		for (uint64_t next = second; next + period < rest; next += period) {
			sleep_until(next);
			for (uint64_t from = clock__now_ns(), now = from;
			     now - from < busy && now < rest;)
				now = clock__now_ns();
		}
	}
	sleep_until(start + (seconds + 1) * NSEC_PER_SEC);
	_exit(0);
}

/* All are at rest, and were when all had been read: it stays so until `end`. */
static bool read_all(const pid_t *pids, uint64_t end, uint64_t *ran)
{
	for (int i = 0; i < CHILDREN; i++)
		ran[i] = reference_parked(pids[i], pids[i], SYS_clock_nanosleep).ran_ns;
	return clock__now_ns() < end;
}

static uint64_t stolen(void)
{
	uint64_t steal = 0;
	FILE *stat = fopen("/proc/stat", "re");

	if (stat && fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %lu", &steal) != 1)
		steal = 0;
	if (stat)
		fclose(stat);
	return steal * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void report(const pid_t *pids, uint64_t end, const uint64_t *before, const uint64_t *now)
{
	for (int i = 0; i < CHILDREN; i++)
		printf("pid=%d start_ns=%lu end_ns=%lu ran_ns=%lu\n", pids[i],
		       (uint64_t)(end - NSEC_PER_SEC), end, now[i] - before[i]);
}

int main(int argc, char **argv)
{
	uint64_t seconds, scale, start, steal, ran[2][CHILDREN];
	bool good, good_before = false;
	pid_t pids[CHILDREN];
	int late = 0;

	reference_usage(argc == 2 || argc == 3, "duty SECONDS [SCALE]");
	seconds = reference_number(argv[1], "SECONDS", 1, MOST_SECONDS) + 1;
	scale = argc == 3 ? reference_number(argv[2], "SCALE", 1, 10) : 1;
	reference_sched__outweigh(); /* come late less often */
	start = (clock__now_ns() / NSEC_PER_MSEC + 50) * NSEC_PER_MSEC;
	for (unsigned int i = 0; i < CHILDREN; i++) {
		pids[i] = reference_fork();
		if (!pids[i])
			work(i, scale, start, seconds);
	}
	steal = stolen();
	for (uint64_t i = 0; i < seconds; i++) {
		uint64_t end = start + (i + 1) * NSEC_PER_SEC;

		sleep_until(end - LOOK_NS);
		good = read_all(pids, end, ran[i % 2]);
		if (i && good && good_before)
			report(pids, end, ran[(i + 1) % 2], ran[i % 2]);
		late += i && !(good && good_before);
		good_before = good;
	}
	sleep_until(start + seconds * NSEC_PER_SEC); /* the children's deaths are after it */
	printf("late=%d\nsteal_ns=%lu\n", late, stolen() - steal);
	return 0;
}
