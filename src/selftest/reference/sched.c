// SPDX-License-Identifier: BSD-2-Clause
#include "sched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATIENCE_NS (60 * NSEC_PER_SEC)

static bool read_task(pid_t pid, pid_t tid, const char *file, char *text, size_t size)
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

int reference_sched__read(pid_t pid, pid_t tid, struct reference_sched *sched)
{
	unsigned long long ran, delay, count;
	char text[256];

	if (!read_task(pid, tid, "schedstat", text, sizeof(text)) ||
	    sscanf(text, "%llu %llu %llu", &ran, &delay, &count) != 3)
		return -EOPNOTSUPP;
	*sched = (struct reference_sched){ ran, delay, count };
	return 0;
}

bool reference_sched__cpu(int cpu, uint64_t *ran_ns)
{
	FILE *file = fopen("/proc/schedstat", "re");
	unsigned long long ns;
	bool found = false;
	char line[512];
	int number;

	/* Of a line for a domain nothing is read. */
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "cpu%d %*u %*u %*u %*u %*u %*u %llu", &number, &ns) == 2 &&
			number == cpu;
	if (file)
		fclose(file);
	if (found)
		*ran_ns = ns;
	return found;
}

struct reference_sched reference_sched__since(struct reference_sched before,
					      struct reference_sched now)
{
	return (struct reference_sched){ now.ran_ns - before.ran_ns,
					 now.run_delay_ns - before.run_delay_ns,
					 now.pcount - before.pcount };
}

static bool is_zombie(pid_t pid, pid_t tid)
{
	char text[256];
	const char *state;

	read_task(pid, tid, "stat", text, sizeof(text));
	state = strrchr(text, ')');
	return state && !strncmp(state, ") Z", 3);
}

static int is_parked(pid_t pid, pid_t tid, long where)
{
	char text[256];
	long nr;

	if (!read_task(pid, tid, "syscall", text, sizeof(text)))
		return -EOPNOTSUPP;
	if (sscanf(text, "%ld", &nr) != 1)
		return false; /* "running" */
	if (where == REFERENCE_PARK_STOPPED)
		return true;
	if (nr != where)
		return false;
	return where != REFERENCE_PARK_ZOMBIE || is_zombie(pid, tid);
}

int reference_sched__parked(pid_t pid, pid_t tid, long where, struct reference_sched *sched,
			    char why[REFERENCE_WHY])
{
	uint64_t deadline = clock__now_ns() + PATIENCE_NS;
	int parked;

	while (!(parked = is_parked(pid, tid, where))) {
		if (clock__now_ns() > deadline)
			return reference__fail(why, -ETIMEDOUT, "task %d did not block in time",
					       tid);
		load__sleep(5 * NSEC_PER_MSEC);
	}
	if (parked < 0)
		return reference__fail(why, parked,
				       "cannot read the system call of task %d (not root?)", tid);
	if (reference_sched__read(pid, tid, sched))
		return reference__fail(why, -EOPNOTSUPP, "this kernel has no schedstat of tasks");
	return 0;
}

void reference_sched__park_start(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

_Noreturn void reference_sched__park_end(void)
{
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

/*
 * Raises the weight as far as permitted. By default (autogroup) sessions compete with each other,
 * and weights count within a session. So the task needs a session of its own, which a process-group
 * leader cannot make.
 */
void reference_sched__weigh(int nice)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", nice);
	int fd = setsid() < 0 ? -1 : open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	ssize_t got;

	setpriority(PRIO_PROCESS, 0, nice); /* of this thread */
	if (fd < 0)
		return;
	got = write(fd, text, (size_t)length); /* if it fails, the session keeps its weight */
	(void)got;
	close(fd);
}

void reference_sched__outweigh(void)
{
	reference_sched__weigh(-20);
}
