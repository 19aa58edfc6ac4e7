// SPDX-License-Identifier: BSD-2-Clause
/* Perf events on CPUs of which some have gone offline since the list of online CPUs was read. */
#include "unit.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#define CPUS 4
#define FIRST_FD 1000000 /* plus the CPU: beyond any descriptor, so that closing does nothing */
#define MAP 5
#define PROGRAM 6
#define AT 8 /* first key */

/* The kernel. */
static bool offline[CPUS], lacks_counter;
static int by_key[AT + CPUS], runs[CPUS], enabled[CPUS];

static long open_perf_event(long number, const struct perf_event_attr *attr, int pid, int cpu,
			    int group, unsigned long flags)
{
	assert_int_equal(number, SYS_perf_event_open);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_true(pid == -1 && group == -1 && flags == PERF_FLAG_FD_CLOEXEC);
	assert_in_range(cpu, 0, CPUS - 1);
	if (!offline[cpu] && !lacks_counter)
		return FIRST_FD + cpu;
	errno = offline[cpu] ? ENODEV : ENOENT;
	return -1;
}

static int control(int fd, unsigned long request, ...)
{
	assert_in_range(fd, FIRST_FD, FIRST_FD + CPUS - 1);
	if (request == PERF_EVENT_IOC_SET_BPF)
		runs[fd - FIRST_FD]++;
	if (request == PERF_EVENT_IOC_ENABLE)
		enabled[fd - FIRST_FD] = 1;
	return 0;
}

int bpf_map_update_elem(int map, const void *key, const void *value, __u64 flags)
{
	uint32_t at = *(const uint32_t *)key;

	assert_int_equal(map, MAP);
	assert_in_range(at, AT, AT + CPUS - 1);
	by_key[at] = *(const int *)value;
	return 0;
}

#define syscall open_perf_event
#define ioctl control
#include "probes/rmid/events.c"

static struct events events;

static void begin(void)
{
	memset(offline, 0, sizeof(offline));
	memset(by_key, 0, sizeof(by_key));
	memset(runs, 0, sizeof(runs));
	memset(enabled, 0, sizeof(enabled));
	lacks_counter = false;
}

static void end(void)
{
	events__close(&events);
}

TEST(a_counter_is_looked_for_on_a_cpu_that_is_online)
{
	const bool online[CPUS] = { false, true, true, false };

	offline[0] = offline[3] = true;
	assert_int_equal(events__probe(0, online, CPUS), 0);
	offline[1] = true; /* just now */
	assert_int_equal(events__probe(0, online, CPUS), 0);
	lacks_counter = true;
	assert_int_equal(events__probe(0, online, CPUS), -ENOENT);
}

TEST(a_cpu_that_went_offline_is_not_counted)
{
	const bool online[CPUS] = { true, true, true, false };

	offline[1] = offline[3] = true;
	assert_int_equal(events__open(&events, 0, MAP, AT, online, CPUS), 0);
	assert_int_equal(events.nr, 2);
	assert_int_equal(by_key[AT], FIRST_FD);
	assert_int_equal(by_key[AT + 1], 0);
	assert_int_equal(by_key[AT + 2], FIRST_FD + 2);
	assert_int_equal(by_key[AT + 3], 0);
}

TEST(a_cpu_that_went_offline_has_no_timer)
{
	bool timed[CPUS] = { true, true, false, true };

	offline[1] = true;
	assert_int_equal(events__tick(&events, PROGRAM, timed, CPUS), 0);
	assert_int_equal(events.nr, 2);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(timed[cpu], cpu == 0 || cpu == 3);
		assert_int_equal(runs[cpu], timed[cpu]);
		assert_int_equal(enabled[cpu], timed[cpu]);
	}
}

TEST(another_error_is_one)
{
	bool all[CPUS] = { true, true, true, true };

	lacks_counter = true;
	assert_int_equal(events__open(&events, 0, MAP, AT, all, CPUS), -ENOENT);
	assert_int_equal(events__tick(&events, PROGRAM, all, CPUS), -ENOENT);
}

UNIT_FIXTURES(.each = { begin, end })
