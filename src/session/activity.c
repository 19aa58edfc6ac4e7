// SPDX-License-Identifier: BSD-2-Clause
#include "activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <seccomp.h>

#include <core/vec.h>

#define SHOWN 8 /* processes, without a filter */
#define CALLS 8 /* system calls of a process that are counted */

struct call {
	int32_t number;
	uint64_t count; /* 0: free */
};

struct process {
	uint32_t tgid;
	uint16_t kind; /* of its threads */
	char name[LAT_COMM_LEN];
	uint64_t threads, threads_now; /* most in one look; in the one that is being added */
	uint64_t looks, asleep, blocked;
	struct call calls[CALLS];
	uint64_t lived_ns, run_ns, queue_ns;
};

struct activity_watch {
	struct lat_life_task *first, *last; /* by thread */
	size_t nr_first, nr_last;
	struct process *processes; /* by tgid */
	size_t nr, nr_sorted;
};

struct activity_watch *activity__new(void)
{
	return calloc(1, sizeof(struct activity_watch));
}

void activity__free(struct activity_watch *watch)
{
	if (!watch)
		return;
	free(watch->first);
	free(watch->last);
	free(watch->processes);
	free(watch);
}

/* ---- looks ---- */

static int by_thread(const void *left, const void *right)
{
	const struct lat_life_task *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->thread_start_ns < b->thread_start_ns ? -1
						       : a->thread_start_ns > b->thread_start_ns;
}

static int by_tgid(const void *left, const void *right)
{
	uint32_t a = ((const struct process *)left)->tgid;
	uint32_t b = ((const struct process *)right)->tgid;

	return a < b ? -1 : a > b;
}

static struct process *find(const struct activity_watch *watch, size_t nr, uint32_t tgid)
{
	const struct process wanted = { .tgid = tgid };

	return nr ? bsearch(&wanted, watch->processes, nr, sizeof(wanted), by_tgid) : NULL;
}

/*
 * The processes that are new since nr_sorted are the last ones; the threads of one come together.
 */
static struct process *process_of(struct activity_watch *watch, uint32_t tgid,
				  const char name[LAT_COMM_LEN])
{
	struct process *found = find(watch, watch->nr_sorted, tgid);

	for (size_t i = watch->nr; !found && i-- > watch->nr_sorted;)
		if (watch->processes[i].tgid == tgid)
			found = &watch->processes[i];
	if (!found) {
		if (vec__append(&watch->processes, &watch->nr, &(struct process){ .tgid = tgid },
				sizeof(*found)))
			return NULL;
		found = &watch->processes[watch->nr - 1];
	}
	memcpy(found->name, name, sizeof(found->name));
	return found;
}

/* Of more calls than there is room for, the first ones are counted. */
static void count_call(struct process *process, int32_t number)
{
	for (unsigned int i = 0; i < CALLS; i++) {
		struct call *call = &process->calls[i];

		if (call->count && call->number != number)
			continue;
		call->number = number;
		call->count++;
		return;
	}
}

static void count(struct process *process, const struct lat_life_task *task)
{
	process->kind |= task->kind;
	process->threads_now++;
	process->looks++;
	if (task->state == LAT_AWAKE)
		return;
	process->asleep++;
	process->blocked += task->state == LAT_BLOCKED;
	if (task->call != LAT_NO_CALL)
		count_call(process, task->call);
}

static int by_process(const void *left, const void *right)
{
	uint32_t a = ((const struct lat_life_task *)left)->tgid;
	uint32_t b = ((const struct lat_life_task *)right)->tgid;

	return a < b ? -1 : a > b;
}

static int count_all(struct activity_watch *watch, struct lat_life_task *tasks, size_t nr)
{
	struct process *process;

	qsort(tasks, nr, sizeof(*tasks), by_process);
	for (size_t i = 0; i < nr; i++) {
		if (!(tasks[i].kind & LAT_LIFE_WANTED))
			continue;
		process = process_of(watch, tasks[i].tgid, tasks[i].process);
		if (!process)
			return -ENOMEM;
		count(process, &tasks[i]);
	}
	for (size_t i = 0; i < watch->nr; i++) {
		process = &watch->processes[i];
		if (process->threads_now > process->threads)
			process->threads = process->threads_now;
		process->threads_now = 0;
	}
	if (watch->nr)
		qsort(watch->processes, watch->nr, sizeof(*watch->processes), by_tgid);
	watch->nr_sorted = watch->nr;
	return 0;
}

int activity__look(struct activity_watch *watch, const struct lat_life_task *tasks, size_t nr)
{
	struct lat_life_task *copy;
	int err;

	if (!nr)
		return 0;
	copy = malloc(nr * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, tasks, nr * sizeof(*copy));
	err = count_all(watch, copy, nr);
	qsort(copy, nr, sizeof(*copy), by_thread);
	if (!watch->first) {
		watch->first = copy;
		watch->nr_first = nr;
		return err;
	}
	free(watch->last);
	watch->last = copy;
	watch->nr_last = nr;
	return err;
}

/* ---- times ---- */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static const struct lat_life_task *find_thread(const struct lat_life_task *tasks, size_t nr,
					       const struct lat_life_task *wanted)
{
	return nr ? bsearch(wanted, tasks, nr, sizeof(*tasks), by_thread) : NULL;
}

/* A thread that the first look does not show has begun since. */
static void add_living(struct activity_watch *watch, uint64_t opened_ns, uint64_t closed_ns)
{
	for (size_t i = 0; i < watch->nr_last; i++) {
		const struct lat_life_task *task = &watch->last[i], *before;
		struct process *process = find(watch, watch->nr_sorted, task->tgid);
		uint64_t from =
			task->thread_start_ns > opened_ns ? task->thread_start_ns : opened_ns;

		if (!process || !(task->kind & LAT_LIFE_WANTED))
			continue;
		before = find_thread(watch->first, watch->nr_first, task);
		process->lived_ns += less(closed_ns, from);
		process->run_ns += less(task->run_ns, before ? before->run_ns : 0);
		process->queue_ns += less(task->queue_ns, before ? before->queue_ns : 0);
	}
}

static int add_ended(struct activity_watch *watch, const struct activity_ended *ended, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct lat_life *life = &ended[i].life;
		struct process *process;

		if (!life->wanted_ns)
			continue;
		process = process_of(watch, ended[i].tgid, life->process);
		if (!process)
			return -ENOMEM;
		process->lived_ns += life->wanted_ns;
		process->run_ns += life->run_ns;
		process->queue_ns += life->queue_ns;
	}
	return 0;
}

/* Threads that ended have the time from their start: that before the window does not count. */
static void subtract_before(struct activity_watch *watch)
{
	for (size_t i = 0; i < watch->nr_first; i++) {
		const struct lat_life_task *task = &watch->first[i];
		struct process *process = find(watch, watch->nr_sorted, task->tgid);

		if (!process || !(task->kind & LAT_LIFE_WANTED) ||
		    find_thread(watch->last, watch->nr_last, task))
			continue;
		process->run_ns = less(process->run_ns, task->run_ns);
		process->queue_ns = less(process->queue_ns, task->queue_ns);
	}
}

/* ---- rows ---- */

static int longest_first(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	uint64_t a_ns = a->run_ns + a->queue_ns, b_ns = b->run_ns + b->queue_ns;

	if (a_ns != b_ns)
		return a_ns < b_ns ? 1 : -1;
	return a->tgid < b->tgid ? -1 : a->tgid > b->tgid;
}

/* Where it slept most often; unknown if it was not in a system call then. */
static int set_call(struct table *table, const struct process *process)
{
	const struct call *most = &process->calls[0];
	char *name;
	int err;

	for (unsigned int i = 1; i < CALLS; i++)
		if (process->calls[i].count > most->count)
			most = &process->calls[i];
	if (!most->count)
		return 0;
	name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, most->number);
	if (!name)
		return 0;
	table__set_integer(table, ACTIVITY_IN_CALL, (int64_t)most->count);
	err = table__set_text(table, ACTIVITY_CALL, name);
	free(name);
	return err;
}

static int add_row(struct table *table, const struct process *process, uint64_t time_ns,
		   bool chosen)
{
	int err = table__add_row(table, time_ns);

	if (!err)
		err = table__set_text(table, ACTIVITY_PROCESS, process->name);
	if (err)
		return err;
	table__set_integer(table, ACTIVITY_PID, process->tgid);
	table__set_integer(table, ACTIVITY_CHOSEN, chosen);
	if (process->looks) /* else it came and went between two looks */
		table__set_integer(table, ACTIVITY_THREADS, (int64_t)process->threads);
	table__set_integer(table, ACTIVITY_LIVED_NS, (int64_t)process->lived_ns);
	table__set_integer(table, ACTIVITY_RUN_NS, (int64_t)process->run_ns);
	table__set_integer(table, ACTIVITY_QUEUE_NS, (int64_t)process->queue_ns);
	table__set_integer(table, ACTIVITY_LOOKS, (int64_t)process->looks);
	table__set_integer(table, ACTIVITY_ASLEEP, (int64_t)process->asleep);
	table__set_integer(table, ACTIVITY_BLOCKED, (int64_t)process->blocked);
	return set_call(table, process);
}

static bool is_shown(const struct process *process, bool filtered)
{
	if (filtered)
		return process->lived_ns;
	return !(process->kind & (LAT_LIFE_KERNEL | LAT_LIFE_LATSCOPE)) &&
	       process->run_ns + process->queue_ns;
}

int activity__rows(struct activity_watch *watch, const struct activity_ended *ended,
		   size_t nr_ended, uint64_t opened_ns, uint64_t closed_ns, bool filtered,
		   struct table *table)
{
	size_t shown = 0, most = filtered ? TABLE_KEYS : SHOWN;
	int err = add_ended(watch, ended, nr_ended);

	add_living(watch, opened_ns, closed_ns);
	subtract_before(watch);
	if (watch->nr)
		qsort(watch->processes, watch->nr, sizeof(*watch->processes), longest_first);
	for (size_t i = 0; !err && shown < most && i < watch->nr; i++) {
		if (!is_shown(&watch->processes[i], filtered))
			continue;
		err = add_row(table, &watch->processes[i], less(closed_ns, opened_ns), filtered);
		shown++;
	}
	return err;
}
