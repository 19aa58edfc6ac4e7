// SPDX-License-Identifier: BSD-2-Clause
#include "queue_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <core/clock.h>
#include <latscope/event.h>
#include <probes/kit/bpf_probe.h>
#include <probes/kit/kernel.h>
#include <probes/kit/refusal.h>

#include "types.h"

#define TRIES 5
/* Clocks of two CPUs may differ by this much, in addition to the time of reading them. */
#define APART_NS 50000
/* A clock that advances in larger steps is based on jiffies. */
#define STEP_NS 100000

/*
 * The perf events also count by the scheduler's clock, as long as no other program opens such
 * events: good enough to compare the clocks of two CPUs at the start. CLOCK_MONOTONIC minus the
 * scheduler's clock of a CPU lies from `low` to `high`.
 */
struct bounds {
	int64_t low, high;
};

static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 0 also if the CPU is offline. */
static int open_cpu(struct queue_clock *clock, int cpu, int events)
{
	int fd = open_event(cpu);

	if (fd < 0)
		return errno == ENODEV || errno == ENXIO ? 0 : -errno;
	clock->events[cpu] = fd;
	clock->of_cpu[cpu].clock.event = fd;
	return bpf_map_update_elem(events, &cpu, &fd, BPF_ANY);
}

/* Only our own files matter; before 6.1 the iterator cannot be limited to them. */
static int find_stamps(const struct bpf_program *reader)
{
	union bpf_iter_link_info info = { .task.pid = getpid() };
	struct bpf_iter_attach_opts ours = {
		.sz = sizeof(ours),
		.link_info = &info,
		.link_info_len = sizeof(info),
	};
	int err = probe__run_iterator(reader, &ours);

	return err ? probe__run_iterator(reader, NULL) : 0;
}

static int first_cpu(const struct queue_clock *clock)
{
	int cpu = 0;

	while (clock->events[cpu] < 0)
		cpu++;
	return cpu;
}

static int read_bounds(const struct queue_clock *clock, int cpu, struct bounds *bounds)
{
	const struct runqlat_clock *here = &clock->of_cpu[cpu].clock;
	uint64_t before, counted, after;

	if (!here->stamp)
		return -ENOENT;
	for (int i = 0; i < TRIES; i++) {
		before = clock__now_ns();
		if (read(clock->events[cpu], &counted, sizeof(counted)) != sizeof(counted))
			return -EIO;
		after = clock__now_ns();
		counted += here->base_ns;
		if (!i || (int64_t)(before - counted) > bounds->low)
			bounds->low = before - counted;
		if (!i || (int64_t)(after - counted) < bounds->high)
			bounds->high = after - counted;
	}
	return 0;
}

/* Do all CPUs have the same clock, as far as can be measured? */
static int check_agreement(const struct queue_clock *clock)
{
	struct bounds all = { INT64_MIN, INT64_MAX }, one;
	int err;

	for (int cpu = 0; cpu < clock->cpus; cpu++) {
		if (clock->events[cpu] < 0)
			continue;
		err = read_bounds(clock, cpu, &one);
		if (err)
			return err;
		if (one.low > all.low)
			all.low = one.low;
		if (one.high < all.high)
			all.high = one.high;
	}
	if (all.low <= all.high + APART_NS)
		return 0;
	refusal__note("the scheduler's clocks of two CPUs differ");
	return -ERANGE;
}

/* The kernel lets user space compute the clock only if it is one and the same on all CPUs. */
static bool is_computable(int event)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page = mmap(NULL, size, PROT_READ, MAP_SHARED, event, 0);
	bool can;

	if (page == MAP_FAILED)
		return false;
	can = page->cap_user_time;
	munmap(page, size);
	return can;
}

/* A paravirtual clock cannot be computed; the scheduler's own report shows whether it is stable. */
static bool is_said_stable(void)
{
	FILE *file = kernel__open_debugfs("sched/debug");
	int stable = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "sched_clock_stable() : %d", &stable) != 1)
		;
	if (file)
		fclose(file);
	return stable;
}

/*
 * Otherwise each CPU has its own clock, and a CPU that wakes up a task on another one advances that
 * one's clock.
 */
static int check_stability(const struct queue_clock *clock)
{
	if (is_computable(clock->events[first_cpu(clock)]) || is_said_stable())
		return 0;
	refusal__note("the scheduler's clock is not stable, or cannot be seen to be");
	return -ERANGE;
}

static int check_step(const struct queue_clock *clock)
{
	uint64_t start = clock__now_ns(), first = 0, counted;
	int cpu = first_cpu(clock);

	for (int i = 0; i < 3; i++) { /* the first step may begin anywhere */
		if (read(clock->events[cpu], &first, sizeof(first)) != sizeof(first))
			return -EIO;
		start = clock__now_ns();
		do {
			if (read(clock->events[cpu], &counted, sizeof(counted)) != sizeof(counted))
				return -EIO;
		} while (counted == first && clock__now_ns() - start < STEP_NS);
		if (counted != first)
			return 0;
	}
	refusal__note("the scheduler's clock advances in steps of more than 0.1 ms");
	return -ERANGE;
}

static int open_all(struct queue_clock *clock, int events)
{
	int err = 0, opened = 0;

	for (int cpu = 0; cpu < clock->cpus; cpu++)
		clock->events[cpu] = -1;
	for (int cpu = 0; !err && cpu < clock->cpus; cpu++) {
		err = open_cpu(clock, cpu, events);
		opened += clock->events[cpu] >= 0;
	}
	return !err && !opened ? -ENODEV : err;
}

static int open_and_check(struct queue_clock *clock, int events, const struct bpf_program *reader)
{
	int err = open_all(clock, events);

	if (!err)
		err = find_stamps(reader);
	if (!err)
		err = check_stability(clock);
	if (!err)
		err = check_step(clock);
	return err ? err : check_agreement(clock);
}

int queue_clock__open(struct queue_clock *clock, const struct bpf_map *events,
		      const struct bpf_map *cells, const struct bpf_program *reader)
{
	size_t page = sysconf(_SC_PAGESIZE), size;
	int err = -ENOMEM;

	clock->cpus = bpf_map__max_entries(cells);
	size = (clock->cpus * sizeof(*clock->of_cpu) + page - 1) / page * page;
	clock->of_cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(cells), 0);
	if (clock->of_cpu == MAP_FAILED)
		return -errno;
	clock->events = malloc(clock->cpus * sizeof(*clock->events));
	if (clock->events)
		err = open_and_check(clock, bpf_map__fd(events), reader);
	munmap(clock->of_cpu, size);
	clock->of_cpu = NULL;
	if (err)
		queue_clock__close(clock);
	return err;
}

void queue_clock__close(struct queue_clock *clock)
{
	for (int cpu = 0; clock->events && cpu < clock->cpus; cpu++)
		if (clock->events[cpu] >= 0)
			close(clock->events[cpu]);
	free(clock->events);
	clock->events = NULL;
}
