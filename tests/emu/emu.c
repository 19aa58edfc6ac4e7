// SPDX-License-Identifier: BSD-2-Clause
#include "emu.h"

#include "mounted.h"

#include <json-c/json.h>
#include <sched.h>
#include <sys/mman.h>

#define MSRFS ".output/tests/emu/msrfs/msrfs"

static char mountpoint[64]; /* below unit.h's dir, where the clock is too */
static pid_t server;
static int ctl = -1;
static const volatile uint64_t *emu_clock;

/* On a single CPU, the way of each register access to the emulator and back is half as long. */
static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int map_clock(void)
{
	int fd = open(unit_path(dir, "clock"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	emu_clock = mmap(NULL, sizeof(*emu_clock), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return emu_clock == MAP_FAILED ? -1 : 0;
}

void emu__begin(void)
{
	char *clock;

	unit_enter_dir();
	snprintf(mountpoint, sizeof(mountpoint), "%s/msrfs", dir);
	assert_int_equal(mkdir(mountpoint, 0700), 0);
	stay();
	clock = unit_text("time file=%s", unit_path(dir, "clock"));
	server = mounted_start(MSRFS, mountpoint, clock);
	ctl = open(unit_path(mountpoint, "ctl"), O_WRONLY | O_CLOEXEC);
	assert_true(ctl >= 0);
	assert_int_equal(map_clock(), 0);
}

void emu__end(void)
{
	close(ctl);
	assert_true(WIFEXITED(mounted_end(server))); /* libfuse has its own status for a signal */
	unit_leave_dir();
}

const char *emu__root(void)
{
	static char root[sizeof(mountpoint) + 4];

	snprintf(root, sizeof(root), "%s/cpu", mountpoint);
	return root;
}

void emu__tell(const char *format, ...)
{
	char line[256];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (write(ctl, line, length) != length)
		fail_msg("msrfs did not take: %s", line);
}

uint64_t emu__now(void)
{
	return *emu_clock;
}

static struct json_object *object_from(const char *name)
{
	struct json_object *object = json_object_from_file(unit_path(mountpoint, name));

	assert_non_null(object);
	return object;
}

struct json_object *emu__changed(void)
{
	return object_from("changed");
}

double emu__number(const char *path)
{
	struct json_object *state = object_from("state"), *found;
	double number;

	if (json_pointer_get(state, path, &found))
		fail_msg("msrfs does not tell %s", path);
	number = json_object_get_double(found);
	json_object_put(state);
	return number;
}

double emu__imbalance(void)
{
	double near = emu__number("/streams/0/latency"), far = emu__number("/streams/1/latency");

	return fabs(near - far) / fmax(near, far);
}

char *emu__writes(void)
{
	char *writes = unit_read(mountpoint, "writes");

	assert_non_null(writes);
	return writes;
}

int emu__open(unsigned int cpu)
{
	return open(unit_text("%s/cpu/%u/msr", mountpoint, cpu), O_RDWR | O_CLOEXEC);
}

int emu__read(unsigned int cpu, uint64_t reg, uint64_t *value)
{
	int fd = emu__open(cpu), err;

	if (fd < 0)
		return -errno;
	err = pread(fd, value, sizeof(*value), reg) == sizeof(*value) ? 0 : -errno;
	close(fd);
	return err;
}

int emu__write(unsigned int cpu, uint64_t reg, uint64_t value)
{
	int fd = emu__open(cpu), err;

	if (fd < 0)
		return -errno;
	err = pwrite(fd, &value, sizeof(value), reg) == sizeof(value) ? 0 : -errno;
	close(fd);
	return err;
}
