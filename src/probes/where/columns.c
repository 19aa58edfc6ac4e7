// SPDX-License-Identifier: BSD-2-Clause
#include "columns.h"

#include <limits.h>
#include <stdio.h>

#include <core/sanitize.h>

#include "calls.h"
#include "view_states.h"

#define CGROUP_TEXT 256

/* Its mean is a share of the life. */
#define PART(index, part, of)                               \
	[PARTS_STATES + (index)] = { .name = part "_ns",    \
				     .unit = "ns",          \
				     .what = of,            \
				     .mean_of = part "_ns", \
				     .mean_per = "life_ns", \
				     .mean_scale = 1 }

static const struct table_column parts_columns[PARTS_COLUMNS] = {
	[PARTS_PID] = { "pid", "",
			"process ID; unknown: processes that began and ended in one interval",
			TABLE_INTEGER, true },
	[PARTS_TID] = { "tid", "", "thread ID, by thread", TABLE_INTEGER, true },
	[PARTS_COMM] = { "comm", "", "name of the process", TABLE_TEXT, true },
	[PARTS_CGROUP] = { "cgroup", "", "its cgroup", TABLE_TEXT, true },
	[PARTS_LIFE_NS] = { "life_ns", "ns",
			    "time that its threads lived; the parts that follow sum to it",
			    TABLE_INTEGER, false },
	PART(WHERE_CPU, "cpu", "on a CPU"),
	PART(WHERE_READY, "ready", "runnable, waiting for a CPU"),
	PART(WHERE_DISK, "disk", "waiting for I/O"),
	PART(WHERE_MEMORY, "memory", "waiting for memory: reclaim, memory.high"),
	PART(WHERE_FAULT, "fault", "asleep in a page fault, for none of the others"),
	PART(WHERE_LOCK, "lock", "waiting for a lock of the kernel"),
	PART(WHERE_FUTEX, "futex", "waiting for a futex"),
	PART(WHERE_SOCKET, "socket", "asleep in a read or write of a socket, pipe or the like"),
	PART(WHERE_WORK, "work", "waiting for work: poll, accept, signals"),
	PART(WHERE_TIMER, "timer", "asleep for a time"),
	PART(WHERE_CHILD, "child", "waiting for a child"),
	PART(WHERE_STOPPED, "stopped", "stopped by a signal, a debugger or a freezer"),
	PART(WHERE_OTHER, "other", "asleep in another system call, or in the kernel"),
	PART(WHERE_UNKNOWN, "unknown", "not known: a program did not see a switch"),
	[PARTS_USER_NS] = { "user_ns", "ns", "of cpu_ns, in user mode, by the kernel's ticks",
			    TABLE_INTEGER, false },
	[PARTS_SYSTEM_NS] = { "system_ns", "ns", "of cpu_ns, in the kernel, by the kernel's ticks",
			      TABLE_INTEGER, false },
	[PARTS_RUN_NS] = { "run_ns", "ns", "the kernel's own sum of cpu_ns", TABLE_INTEGER, false },
	[PARTS_QUEUE_NS] = { "queue_ns", "ns",
			     "the kernel's own sum of ready_ns, with waits that go on",
			     TABLE_INTEGER, false },
	[PARTS_IO_NS] = { "io_ns", "ns",
			  "the kernel's own sum of disk_ns, delay accounting; unknown: it is off",
			  TABLE_INTEGER, false },
	[PARTS_THREADS] = { "threads", "", "threads at the end of the interval", TABLE_INTEGER,
			    false },
	[PARTS_ENDED] = { "ended", "", "threads that ended in the interval", TABLE_INTEGER, false },
};

static const struct table_column sleeps_columns[SLEEPS_COLUMNS] = {
	[PARTS_PID] = { "pid", "", "process ID, as in where", TABLE_INTEGER, true },
	[PARTS_TID] = { "tid", "", "thread ID, by thread", TABLE_INTEGER, true },
	[PARTS_COMM] = { "comm", "", "name of the process", TABLE_TEXT, true },
	[SLEEPS_STATE] = { "state", "", "what its threads waited for: a part of where", TABLE_TEXT,
			   true },
	[SLEEPS_CALL] = { "call", "", "system call in which they waited", TABLE_TEXT, true },
	[SLEEPS_NS] = { "ns", "ns", "how long", TABLE_INTEGER, false },
	[SLEEPS_TIMES] = { "times", "", "how often", TABLE_INTEGER, false },
};

static const struct table_column gaps_columns[GAPS_COLUMNS] = {
	[GAPS_REASON] = { "reason", "", "what was not seen, or had no room", TABLE_TEXT, true },
	[GAPS_TIMES] = { "times", "", "how often, on the whole machine", TABLE_INTEGER, false },
	[GAPS_NS] = { "ns", "ns", "how much time, where it is known", TABLE_INTEGER, false },
};

int columns__new(struct table **parts, struct table **sleeps, struct table **gaps)
{
	int err = *parts ? 0 : table__new(parts, parts_columns, PARTS_COLUMNS);

	if (!err && !*sleeps)
		err = table__new(sleeps, sleeps_columns, SLEEPS_COLUMNS);
	if (!err && !*gaps)
		err = table__new(gaps, gaps_columns, GAPS_COLUMNS);
	return err;
}

static int64_t gained(uint64_t now, uint64_t before)
{
	return (int64_t)sums__gained(now, before);
}

static int begin_row(struct table *table, uint64_t time_ns, const struct where_one *one,
		     enum lat_by by)
{
	char comm[LAT_COMM_LEN];
	int err = table__add_row(table, time_ns);

	if (err)
		return err;
	if (by == LAT_BY_CGROUP)
		return 0;
	if (!(one->is_new && !one->living) || by == LAT_BY_THREAD) {
		table__set_integer(table, PARTS_PID, one->tgid);
		if (by == LAT_BY_THREAD)
			table__set_integer(table, PARTS_TID, one->key.id);
	}
	return table__set_text(table, PARTS_COMM, sanitize__text(comm, sizeof(comm), one->comm));
}

static int add_parts(struct table *table, uint64_t time_ns, const struct where_one *one,
		     enum lat_by by, const struct names *names)
{
	const struct where_sum *now = &one->now, *before = &one->before;
	char path[CGROUP_TEXT], cgroup[CGROUP_TEXT];
	uint64_t parts[WHERE_STATES];
	int err = begin_row(table, time_ns, one, by);

	if (err)
		return err;
	if (one->cgroup)
		names__cgroup_text(names, one->cgroup, path, sizeof(path));
	else
		snprintf(path, sizeof(path), "(other)");
	err = table__set_text(table, PARTS_CGROUP, sanitize__text(cgroup, sizeof(cgroup), path));
	table__set_integer(table, PARTS_LIFE_NS, (int64_t)sums__parts(one, parts));
	for (unsigned int i = 0; i < WHERE_STATES; i++)
		table__set_integer(table, PARTS_STATES + i, (int64_t)parts[i]);
	table__set_integer(table, PARTS_USER_NS,
			   gained(now->kernel.user_ns, before->kernel.user_ns));
	table__set_integer(table, PARTS_SYSTEM_NS,
			   gained(now->kernel.system_ns, before->kernel.system_ns));
	table__set_integer(table, PARTS_RUN_NS, gained(now->kernel.run_ns, before->kernel.run_ns));
	table__set_integer(table, PARTS_QUEUE_NS,
			   gained(now->kernel.queue_ns, before->kernel.queue_ns));
	if (!now->kernel.no_io)
		table__set_integer(table, PARTS_IO_NS,
				   gained(now->kernel.io_ns, before->kernel.io_ns));
	table__set_integer(table, PARTS_THREADS, (int64_t)one->living);
	table__set_integer(table, PARTS_ENDED, gained(one->ended, one->ended_before));
	return err;
}

static int add_sleeps(struct table *table, uint64_t time_ns, const struct where_one *one,
		      enum lat_by by)
{
	int err = 0;

	for (size_t i = 0; !err && i < one->nr_reasons; i++) {
		const struct where_reason *reason = &one->reasons[i];
		char call[CALLS_NAME];

		if (!gained(reason->ns, reason->ns_before))
			continue;
		err = begin_row(table, time_ns, one, by);
		if (!err)
			err = table__set_text(table, SLEEPS_STATE,
					      where_states[WHERE_STATE(reason->what)]);
		if (!err)
			err = table__set_text(table, SLEEPS_CALL,
					      calls__name(WHERE_CALL(reason->what), call));
		table__set_integer(table, SLEEPS_NS, gained(reason->ns, reason->ns_before));
		table__set_integer(table, SLEEPS_TIMES,
				   gained(reason->times, reason->times_before));
	}
	return err;
}

int columns__add(struct table *parts, struct table *sleeps, uint64_t time_ns,
		 const struct where_sums *sums, enum lat_by by, const struct names *names)
{
	int err = 0;

	for (size_t i = 0; !err && i < sums->nr; i++) {
		const struct where_one *one = sums->ones[i];

		if (!sums__is_whole(one) || one->now.life_ns == one->before.life_ns)
			continue;
		err = add_parts(parts, time_ns, one, by, names);
		if (!err)
			err = add_sleeps(sleeps, time_ns, one, by);
	}
	return err;
}

int columns__add_gaps(struct table *table, uint64_t time_ns, const struct gaps *now,
		      struct gaps *before)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < WHERE_GAPS; i++) {
		int64_t times = gained(now->times[i], before->times[i]);
		int64_t ns = gained(now->ns[i], before->ns[i]);

		if (!times && !ns)
			continue;
		err = table__add_row(table, time_ns);
		if (!err)
			err = table__set_text(table, GAPS_REASON, where_gaps[i]);
		table__set_integer(table, GAPS_TIMES, times);
		if (ns)
			table__set_integer(table, GAPS_NS, ns);
	}
	*before = *now;
	return err;
}
