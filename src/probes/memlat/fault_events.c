// SPDX-License-Identifier: BSD-2-Clause
#include "fault_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <core/clock.h>
#include <probes/kit/bpf_probe.h>

#define TRIES 3
#define IN_PROGRAM_NS 200000 /* longer than a program takes, even if it is interrupted */

struct fault_events {
	int *ends[FAULT_ENDS]; /* by CPU: descriptors, owned by the links; -1: none */
	int64_t *not_seen; /* by CPU: counted minus seen, just after the window opened */
};

/* ---- attaching ---- */

/*
 * Three events per CPU with two descriptors each, the event's and its link's: the usual limit of
 * 1024 is too low from 170 CPUs on.
 */
static void raise_limit(int cpus)
{
	rlim_t needed = 6 * cpus + 256;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed)
		return;
	limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* if it fails, opening the events fails too */
}

/* -ENODEV: the CPU is possible, but not online. */
static int attach_here(struct bpf_probe *probe, struct bpf_program *program, uint64_t config,
		       int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1,
	};
	struct bpf_link *link;
	int fd, err;

	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	link = bpf_program__attach_perf_event(program, fd);
	if (!link) {
		err = -errno;
		close(fd);
		return err;
	}
	err = bpf_probe__keep_link(probe, link); /* the link owns the event now */
	return err ? err : fd;
}

/* Attaches a program to one software event on every online CPU. `fds`: by CPU; may be NULL. */
static int attach_event(struct bpf_probe *probe, struct bpf_program *program, uint64_t config,
			int *fds)
{
	int fd, attached = 0;

	for (int cpu = 0; cpu < probe->cpus; cpu++) {
		fd = attach_here(probe, program, config, cpu);
		if (fds)
			fds[cpu] = fd < 0 ? -1 : fd;
		if (fd < 0 && fd != -ENODEV)
			return fd;
		attached += fd >= 0;
	}
	return attached ? 0 : -ENODEV;
}

static struct fault_events *make_room(int cpus)
{
	struct fault_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->not_seen = calloc(cpus, sizeof(*events->not_seen));
	for (int end = 0; end < FAULT_ENDS; end++)
		events->ends[end] = calloc(cpus, sizeof(*events->ends[end]));
	if (events->not_seen && events->ends[FAULT_END_MINOR] && events->ends[FAULT_END_MAJOR])
		return events;
	fault_events__free(events);
	return NULL;
}

int fault_events__attach_start(struct bpf_probe *probe, struct bpf_program *start)
{
	raise_limit(probe->cpus);
	return attach_event(probe, start, PERF_COUNT_SW_PAGE_FAULTS, NULL);
}

int fault_events__attach(struct fault_events **events, struct bpf_probe *probe,
			 struct bpf_program *start, struct bpf_program *const ends[FAULT_ENDS])
{
	static const uint64_t configs[] = {
		[FAULT_END_MINOR] = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		[FAULT_END_MAJOR] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	};
	int err = 0;

	*events = make_room(probe->cpus);
	if (!*events)
		return -ENOMEM;
	raise_limit(probe->cpus);
	/* The ends first: then no start lacks its end. */
	for (int end = 0; !err && end < FAULT_ENDS; end++)
		err = attach_event(probe, ends[end], configs[end], (*events)->ends[end]);
	return err ? err : fault_events__attach_start(probe, start);
}

void fault_events__free(struct fault_events *events)
{
	if (!events)
		return;
	for (int end = 0; end < FAULT_ENDS; end++)
		free(events->ends[end]);
	free(events->not_seen);
	free(events);
}

/* ---- counts ---- */

/* Reads the kernel's count on a CPU. False: it has no events, or they cannot be read. */
static bool read_counted(const struct fault_events *events, int cpu, uint64_t *counted)
{
	uint64_t count;

	*counted = 0;
	for (int end = 0; end < FAULT_ENDS; end++) {
		int fd = events->ends[end][cpu];

		if (fd < 0 || read(fd, &count, sizeof(count)) != sizeof(count))
			return false;
		*counted += count;
	}
	return true;
}

/*
 * The kernel counts an event, then runs the program, which counts it as seen; both without being
 * preempted, so that one event at most is between the two on a CPU. What was missed between the two
 * ends of the window is the growth of the difference. It must not come out too large: at the start
 * the difference is read so that it is not too small, at the end so that it is not too large. Both
 * readings are made a few times while the window is open, and the closest one is used.
 */
void fault_events__open(struct fault_events *events, const struct bpf_probe *probe)
{
	uint64_t seen, counted;
	int64_t not_seen;

	for (int cpu = 0; cpu < probe->cpus; cpu++) {
		events->not_seen[cpu] = INT64_MAX;
		for (int i = 0; i < TRIES; i++) {
			seen = bpf_probe__seen_on(probe, cpu);
			if (!read_counted(events, cpu, &counted))
				break;
			not_seen = (int64_t)(counted - seen);
			if (not_seen < events->not_seen[cpu])
				events->not_seen[cpu] = not_seen;
		}
	}
}

/*
 * If fewer than `expected` were seen, a program may still be running: waits until it has counted
 * its event.
 */
static uint64_t seen_by_now(const struct bpf_probe *probe, int cpu, uint64_t expected)
{
	uint64_t first = bpf_probe__seen_on(probe, cpu), seen = first;
	uint64_t end = clock__now_ns() + IN_PROGRAM_NS;

	while (seen == first && seen < expected && clock__now_ns() < end)
		seen = bpf_probe__seen_on(probe, cpu);
	return seen;
}

static uint64_t missed_on(const struct fault_events *events, const struct bpf_probe *probe, int cpu)
{
	uint64_t counted, seen, most = 0;

	for (int i = 0; i < TRIES; i++) {
		if (events->not_seen[cpu] == INT64_MAX || !read_counted(events, cpu, &counted))
			break;
		counted -= events->not_seen[cpu];
		seen = seen_by_now(probe, cpu, counted);
		if (counted > seen && counted - seen > most)
			most = counted - seen;
	}
	return most;
}

uint64_t fault_events__missed(const struct fault_events *events, const struct bpf_probe *probe)
{
	uint64_t missed = 0;

	for (int cpu = 0; cpu < probe->cpus; cpu++)
		missed += missed_on(events, probe, cpu);
	return missed;
}
