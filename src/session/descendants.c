// SPDX-License-Identifier: BSD-2-Clause
#include "descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/vec.h>
#include <host/process_stat.h>

struct process {
	pid_t pid, parent;
	char state;
};

struct processes {
	struct process *all; /* by pid */
	size_t nr;
};

/* False: the process has ended, or this user cannot see it. */
static bool read_stat(const char *pid, struct process *process)
{
	struct process_stat stat;

	process->pid = atoi(pid);
	if (process_stat__read("", process->pid, &stat))
		return false;
	process->parent = stat.parent;
	process->state = stat.state;
	return true;
}

static int by_pid(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int read_all(struct processes *processes)
{
	struct process process;
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		if (isdigit((unsigned char)entry->d_name[0]) && read_stat(entry->d_name, &process))
			err = vec__append(&processes->all, &processes->nr, &process,
					  sizeof(process));
	}
	closedir(proc);
	if (processes->nr)
		qsort(processes->all, processes->nr, sizeof(*processes->all), by_pid);
	return err;
}

static bool is_other(const struct descendants *descendants, pid_t pid)
{
	for (size_t i = 0; i < descendants->nr_others; i++)
		if (descendants->others[i] == pid)
			return true;
	return false;
}

int descendants__watch(struct descendants *descendants)
{
	struct processes processes = { 0 };
	int err = read_all(&processes);

	for (size_t i = 0; !err && i < processes.nr; i++)
		if (processes.all[i].parent == getpid())
			err = vec__append(&descendants->others, &descendants->nr_others,
					  &processes.all[i].pid, sizeof(pid_t));
	free(processes.all);
	if (!err && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		err = -errno;
	return err;
}

/*
 * /proc/PID/task/TID/children lists hidden processes, too. A process whose parent has ended becomes
 * a child of the main thread. A kernel without CONFIG_PROC_CHILDREN has no such file: -ENOENT.
 */
static int read_children(struct processes *children)
{
	struct process child = { .parent = getpid() };
	char path[64];
	FILE *stream;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	stream = fopen(path, "re");
	if (!stream)
		return -errno;
	while (!err && fscanf(stream, "%d", &child.pid) == 1)
		err = vec__append(&children->all, &children->nr, &child, sizeof(child));
	fclose(stream);
	return err;
}

static void reap_each(const struct descendants *descendants, pid_t workload)
{
	struct processes processes = { 0 };

	if (read_children(&processes))
		read_all(&processes);
	for (size_t i = 0; i < processes.nr; i++) {
		const struct process *process = &processes.all[i];

		if (process->parent == getpid() && process->pid != workload &&
		    !is_other(descendants, process->pid))
			waitpid(process->pid, NULL, WNOHANG);
	}
	free(processes.all);
}

void descendants__reap(const struct descendants *descendants, pid_t workload)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		/* Not reaped: its status belongs to the code that waits for it. */
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
			return;
		if (info.si_pid == workload || is_other(descendants, info.si_pid))
			break;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
	/* Until it is reaped, which may be never, waitid() tells only of this one. */
	reap_each(descendants, workload);
}

static bool is_descendant(const struct descendants *descendants, const struct processes *processes,
			  const struct process *process)
{
	pid_t self = getpid();

	/* Parents read at different times may form a cycle: take no more steps than processes. */
	for (size_t i = 0; process && i < processes->nr; i++) {
		const struct process parent = { .pid = process->parent };

		if (is_other(descendants, process->pid))
			return false;
		if (parent.pid == self)
			return true;
		process = bsearch(&parent, processes->all, processes->nr, sizeof(parent), by_pid);
	}
	return false;
}

/* Process 1 always exists, and belongs to another user. */
static bool is_hidden(void)
{
	struct process process;

	return getpid() != 1 && !read_stat("1", &process);
}

/*
 * This process inherits the children of a process that ended, so without children there is nothing
 * to count.
 */
static bool may_have_children(const struct descendants *descendants)
{
	struct processes children = { 0 };
	bool any = read_children(&children) != 0;

	for (size_t i = 0; !any && i < children.nr; i++)
		any = !is_other(descendants, children.all[i].pid);
	free(children.all);
	return any;
}

int descendants__count(const struct descendants *descendants, uint64_t *count)
{
	struct processes processes = { 0 };
	int err;

	*count = 0;
	if (is_hidden())
		return may_have_children(descendants) ? -EACCES : 0;
	err = read_all(&processes);
	for (size_t i = 0; !err && i < processes.nr; i++)
		*count += processes.all[i].state != 'Z' &&
			  is_descendant(descendants, &processes, &processes.all[i]);
	free(processes.all);
	return err;
}

void descendants__clear(struct descendants *descendants)
{
	free(descendants->others);
	memset(descendants, 0, sizeof(*descendants));
}
