/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler's own account of a task, /proc/PID/task/TID/schedstat: time on a CPU, time waited
 * for one (run_delay), times it was given one (pcount). All three count from 0 at fork.
 *
 * run_delay lacks a wait that is open: it grows when the task gets its CPU or moves to another
 * one. So it is read only of tasks that are parked, blocked where nothing but the program itself
 * wakes them. That a task is, and is not merely about to block (it could be preempted on the way,
 * and wait), is told by /proc/PID/task/TID/syscall: the kernel names the system call only of a
 * task that it has found off every run queue, else it says "running". A read of a parked task's
 * schedstat is therefore final until the program wakes it, and a recorder whose window opens and
 * closes while the task is parked has to sum its waits to the difference, to the nanosecond, and
 * count pcount of them.
 */
#ifndef LATSCOPE_TRUTH_SCHED_H
#define LATSCOPE_TRUTH_SCHED_H

#include <fcntl.h>
#include <sys/syscall.h>

#include "truth.h"

struct truth_sched {
	uint64_t ran_ns;
	uint64_t run_delay_ns;
	uint64_t pcount;
};

/* Where the tasks park. A zombie is in no system call. */
#define TRUTH_PARK_START SYS_read
#define TRUTH_PARK_END SYS_ppoll
#define TRUTH_PARK_ZOMBIE (-1)

static inline bool truth_read_task(pid_t pid, pid_t tid, const char *file, char *text, size_t size)
{
	ssize_t length = -1;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, text, size - 1);
		close(fd);
	}
	text[length < 0 ? 0 : length] = '\0';
	return length > 0;
}

static inline bool truth_is_parked(pid_t pid, pid_t tid, long where)
{
	char text[256];
	const char *state;
	long nr;

	if (!truth_read_task(pid, tid, "syscall", text, sizeof(text)))
		truth_die(TRUTH_CANNOT, "cannot read the syscall file of task %d: not root?", tid);
	if (sscanf(text, "%ld", &nr) != 1 || nr != where)
		return false;
	if (where != TRUTH_PARK_ZOMBIE)
		return true;
	truth_read_task(pid, tid, "stat", text, sizeof(text));
	state = strrchr(text, ')');
	return state && !strncmp(state, ") Z", 3);
}

/* Waits until the task is parked there, and gives its account. */
static inline struct truth_sched truth_parked(pid_t pid, pid_t tid, long where)
{
	uint64_t deadline = truth_now() + 60 * NSEC_PER_SEC;
	unsigned long long ran, delay, count;
	char text[256];

	while (!truth_is_parked(pid, tid, where)) {
		if (truth_now() > deadline)
			truth_die(TRUTH_FAILED, "task %d does not come to rest", tid);
		truth_sleep(5 * NSEC_PER_MSEC);
	}
	if (!truth_read_task(pid, tid, "schedstat", text, sizeof(text)) ||
	    sscanf(text, "%llu %llu %llu", &ran, &delay, &count) != 3)
		truth_die(TRUTH_CANNOT, "this kernel keeps no schedstat of tasks");
	return (struct truth_sched){ ran, delay, count };
}

static inline void truth_park_start(int fd)
{
	char byte;

	/* The end of the pipe, when the program closes it, wakes all who read it. */
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static inline _Noreturn void truth_park_end(void)
{
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

#endif
