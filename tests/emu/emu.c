// SPDX-License-Identifier: BSD-2-Clause
#include "emu.h"

#include <json-c/json.h>
#include <limits.h>
#include <sched.h>
#include <sys/mman.h>

#define MSRFS ".output/tests/emu/msrfs/msrfs"
#define CANNOT_MOUNT 4 /* exit status, libfuse's */

static char mountpoint[64]; /* below unit.h's dir, where the clock is too */
static pid_t server;
static int ctl = -1;
static const volatile uint64_t *emu_clock;

/*
 * Each register access goes to the emulator and back. On a single CPU it takes half the time, so
 * both stay on this one.
 */
static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void serve(void)
{
	char time[PATH_MAX + 16];

	snprintf(time, sizeof(time), "time file=%.*s", PATH_MAX, unit_path(dir, "clock"));
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execl(MSRFS, MSRFS, mountpoint, time, (char *)NULL);
	_exit(127);
}

static void skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	unit_remove(dir);
	exit(0);
}

static bool is_served(void)
{
	int status;

	for (unsigned int i = 0; i < 2000; i++) {
		ctl = open(unit_path(mountpoint, "ctl"), O_WRONLY | O_CLOEXEC);
		if (ctl >= 0)
			return true;
		if (waitpid(server, &status, WNOHANG) != server)
			usleep(10000);
		else if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_MOUNT)
			skip_all("a FUSE file system, as the emulator is, cannot be mounted here");
		else
			return false;
	}
	return false;
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
	dir = unit_tmpdir();
	snprintf(mountpoint, sizeof(mountpoint), "%s/msrfs", dir);
	assert_int_equal(mkdir(mountpoint, 0700), 0);
	stay();
	server = fork();
	if (!server)
		serve();
	assert_true(is_served());
	assert_int_equal(map_clock(), 0);
}

void emu__end(void)
{
	int status;

	close(ctl);
	kill(server, SIGTERM);
	waitpid(server, &status, 0);
	unit_remove(dir);
	assert_true(WIFEXITED(status)); /* libfuse has a status of its own for a signal */
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

struct json_object *emu__state(void)
{
	return object_from("state");
}

struct json_object *emu__changed(void)
{
	return object_from("changed");
}

double emu__number(const char *path)
{
	struct json_object *state = emu__state(), *found;
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
	char name[32];

	snprintf(name, sizeof(name), "cpu/%u/msr", cpu);
	return open(unit_path(mountpoint, name), O_RDWR | O_CLOEXEC);
}

int emu__read(unsigned int cpu, uint64_t reg, uint64_t *value)
{
	int err = 0, fd = emu__open(cpu);

	if (fd < 0)
		return -errno;
	if (pread(fd, value, sizeof(*value), reg) != sizeof(*value))
		err = -errno;
	close(fd);
	return err;
}

int emu__write(unsigned int cpu, uint64_t reg, uint64_t value)
{
	int err = 0, fd = emu__open(cpu);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, &value, sizeof(value), reg) != sizeof(value))
		err = -errno;
	close(fd);
	return err;
}
