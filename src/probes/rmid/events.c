// SPDX-License-Identifier: BSD-2-Clause
#include "events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <core/vec.h>

#include "phase.h"

static int open_event(const struct perf_event_attr *attr, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static struct perf_event_attr counting(unsigned int kind)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = counters_kinds[kind].type,
		.config = counters_kinds[kind].config,
	};
}

int events__probe(unsigned int kind, const bool *online, unsigned int cpus)
{
	struct perf_event_attr attr = counting(kind);
	int fd = -ENODEV;

	/* CPU 0 may be offline, too. */
	for (unsigned int cpu = 0; fd == -ENODEV && cpu < cpus; cpu++)
		if (online[cpu])
			fd = open_event(&attr, (int)cpu);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Opens one and stores it. Returns its descriptor. -ENODEV: the CPU is offline by now. */
static int add_event(struct events *events, const struct perf_event_attr *attr, unsigned int cpu)
{
	int fd = open_event(attr, (int)cpu), err;

	if (fd < 0)
		return fd;
	err = vec__append(&events->fds, &events->nr, &fd, sizeof(fd));
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* One descriptor per CPU and event: the usual limit of 1024 is too low for many CPUs. */
static void raise_limit(size_t more)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= more + 256)
		return;
	limit.rlim_cur = more + 256 < limit.rlim_max ? more + 256 : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* if it fails, opening the events fails too */
}

int events__open(struct events *events, unsigned int kind, int map, unsigned int at,
		 const bool *online, unsigned int cpus)
{
	struct perf_event_attr attr = counting(kind);

	raise_limit(events->nr + cpus);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		uint32_t key = at + cpu;
		int fd = online[cpu] ? add_event(events, &attr, cpu) : -ENODEV;

		if (fd == -ENODEV)
			continue;
		if (fd < 0)
			return fd;
		if (bpf_map_update_elem(map, &key, &fd, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* Otherwise the first period would be the rest of the old one. */
static int halt(void *of)
{
	const int *fd = of;
	uint64_t period = RMID_SLOT_NS;

	if (ioctl(*fd, PERF_EVENT_IOC_DISABLE, 0) || ioctl(*fd, PERF_EVENT_IOC_PERIOD, &period))
		return -errno;
	return 0;
}

static int enable(void *of)
{
	const int *fd = of;

	return ioctl(*fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

/* The timer keeps its initial phase. If that fails, the ticks show it. */
static int start_timer(int fd)
{
	static const struct phase_ops ops = { halt, enable };
	bool met;

	return phase__start(&ops, &fd, &met);
}

int events__tick(struct events *events, int program, bool *timed, unsigned int cpus)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = RMID_SLOT_NS,
		.disabled = 1,
	};
	int fd, err;

	raise_limit(events->nr + cpus);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		fd = timed[cpu] ? add_event(events, &attr, cpu) : -ENODEV;
		timed[cpu] = fd != -ENODEV;
		if (!timed[cpu])
			continue;
		if (fd < 0)
			return fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program))
			return -errno;
		err = start_timer(fd);
		if (err)
			return err;
	}
	return 0;
}

void events__close(struct events *events)
{
	while (events->nr)
		close(events->fds[--events->nr]);
	free(events->fds);
	events->fds = NULL;
}
