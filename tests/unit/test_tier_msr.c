// SPDX-License-Identifier: BSD-2-Clause
/*
 * The msr method, except for the measurement itself (see tests/emu): how it finds CPUs and boxes
 * below a fake /sys, and its messages if the kernel refuses.
 */
#include "unit.h"

#include "probes/tierlat/tier.h"

#define REGISTERS 0x4000
#define CPUS 8

/* Two packages of four CPUs; a descriptor is the CPU. Counters stand still but for the clock's. */
static struct {
	uint64_t registers[2][REGISTERS];
	bool offline[CPUS];
	bool removes; /* the file of a CPU that goes offline */
	int write_error;
	uint64_t now;
	unsigned int open, locks;
	bool locked;
	int first; /* CPU online */
} machine;

static int fake_open(const char *path, int flags)
{
	unsigned int cpu;

	assert_int_equal(sscanf(path, "/dev/cpu/%u/msr", &cpu), 1);
	if (cpu >= CPUS)
		return -ENOENT;
	if (machine.offline[cpu])
		return machine.removes ? -ENOENT : -ENXIO;
	machine.open++;
	return (int)cpu;
}

static ssize_t fake_pread(int fd, void *buf, size_t size, off_t offset)
{
	assert_int_equal(size, 8);
	if (machine.offline[fd])
		return -ENXIO;
	if (offset >= REGISTERS)
		return -EIO;
	memcpy(buf, &machine.registers[fd / 4][offset], 8);
	return 8;
}

static ssize_t fake_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	assert_int_equal(size, 8);
	if (machine.offline[fd])
		return -ENXIO;
	if (machine.write_error)
		return machine.write_error;
	memcpy(&machine.registers[fd / 4][offset], buf, 8);
	return 8;
}

static void fake_close(int fd)
{
	machine.open--;
}

/* As the kernel does, by a register file. */
static int fake_lock(int fd)
{
	machine.locks++;
	assert_int_equal(fd, machine.first);
	return machine.locked ? -EWOULDBLOCK : 0;
}

static uint64_t fake_first_count(void)
{
	return 1ULL << 46;
}

static uint64_t fake_now(void)
{
	return machine.now += 1000;
}

static const struct tier_sys fake = {
	.open = fake_open,
	.pread = fake_pread,
	.pwrite = fake_pwrite,
	.lock = fake_lock,
	.close = fake_close,
	.now_ns = fake_now,
	.first_count = fake_first_count,
};

static void make_machine(void)
{
	unit_empty_dir();
	memset(&machine, 0, sizeof(machine));
	unit_write(dir, "sys/devices/system/cpu/online", "0-7\n");
	for (unsigned int i = 0; i < CPUS; i++)
		unit_write_socket(dir, i, i / 4);
}

static struct tier *tier;
static struct tier_sample samples[16];
static char why[TIER_TEXT];
static const char *todo;

static struct tier_config config;

static int open_model(const char *model)
{
	config.model = tier_model__find(model);
	config.method = TIER_MSR;
	config.root = dir;
	config.min_inserts = 10;
	config.sys = &fake;
	why[0] = '\0';
	todo = NULL;
	return tier__open(&tier, &config, why, &todo);
}

static void begin(void)
{
	make_machine();
	config = (struct tier_config){ .boxes = 4 };
}

/* They must be counted. */
static void begin_without_boxes(void)
{
	make_machine();
	config = (struct tier_config){ 0 };
}

static void finish(void)
{
	assert_int_equal(tier__close(tier, why), 0);
	assert_int_equal(machine.open, 0);
}

static void assert_refused(const char *model, int err, const char *says)
{
	assert_int_equal(open_model(model), err);
	assert_has(why, says);
	assert_null(strchr(why, '\n'));
	assert_int_equal(machine.open, 0);
}

TEST(boxes_are_those_of_the_driver, begin_without_boxes)
{
	for (unsigned int i = 0; i < 6; i++) {
		const char *box =
			unit_text("sys/bus/event_source/devices/uncore_cha_%u", i < 5 ? i : 9);

		unit_write(dir, unit_text("%s/type", box), "7\n");
		unit_write(dir, unit_text("%s/cpumask", box), "0,4\n");
	}
	assert_int_equal(open_model("spr"), 0);
	assert_int_equal(tier__boxes(tier, 0), 6);
	assert_int_equal(tier__sockets(tier), 2);
	/* Their numbers have holes, and so have the addresses. */
	assert_true(machine.registers[0][0x2000 + 0x90 + 2] != 0);
	assert_true(machine.registers[0][0x2000 + 0x50 + 2] == 0);
	finish();
}

TEST(boxes_are_as_many_as_a_register_says, begin_without_boxes)
{
	machine.registers[0][0x702] = machine.registers[1][0x702] = 0xff40 | 28;
	assert_int_equal(open_model("icx"), 0);
	assert_int_equal(tier__boxes(tier, 1), 28);
	finish();
	make_machine();
	machine.registers[0][0x3fed] = machine.registers[1][0x3fed] = 100;
	assert_int_equal(open_model("gnr"), 0);
	assert_int_equal(tier__boxes(tier, 0), 100);
	finish();
	make_machine();
	machine.registers[0][0x702] = machine.registers[1][0x702] = 41;
	assert_refused("icx", -EINVAL, "41 CHAs");
}

TEST(boxes_are_as_many_as_pci_says, begin_without_boxes)
{
	static unsigned char space[256];
	FILE *stream;

	assert_refused("spr", -EOPNOTSUPP, "how many CHAs");
	unit_write(dir, "sys/bus/pci/devices/0000:fe:1e.3/vendor", "0x8086\n");
	unit_write(dir, "sys/bus/pci/devices/0000:fe:1e.3/device", "0x325b\n");
	unit_write(dir, "sys/bus/pci/devices/0000:fe:1e.3/config", "short");
	assert_refused("spr", -EOPNOTSUPP, "how many CHAs");
	memset(space + 0x9c, 0xff, 4);
	space[0xa1] = 0x0f;
	stream = fopen(unit_path(dir, "sys/bus/pci/devices/0000:fe:1e.3/config"), "w");
	assert_int_equal(fwrite(space, 1, sizeof(space), stream), sizeof(space));
	fclose(stream);
	assert_int_equal(open_model("spr"), 0);
	assert_int_equal(tier__boxes(tier, 0), 36);
	finish();
}

TEST(each_package_is_read_on_a_cpu_of_its_own)
{
	static const unsigned int cpus[] = { 1, 6 }, same[] = { 1, 2 }, twice[] = { 2, 2 };

	assert_int_equal(open_model("icx"), 0);
	assert_int_equal(tier__socket(tier, 1), 1);
	assert_int_equal(machine.open, CPUS + 1); /* one of them is the lock */
	finish();
	config.cpus = cpus;
	config.nr_cpus = 2;
	assert_int_equal(open_model("icx"), 0);
	finish();
	config.cpus = same;
	assert_refused("icx", -EINVAL, "CPU 2 is of the same socket");
	/* A foreign tree does not give sockets, but one CPU has one socket. */
	config.cpus = twice;
	config.msr_root = "/foreign";
	assert_refused("icx", -EINVAL, "CPU 2 is named twice");
}

TEST(another_cpu_stands_in)
{
	machine.offline[4] = true;
	assert_int_equal(open_model("icx"), 0);
	machine.offline[5] = machine.offline[0] = true;
	assert_int_equal(tier__read(tier, samples, why), 0);
	assert_has(tier__trouble(tier), "CPU 0: went offline, CPU 1");
	assert_int_equal(tier__read(tier, samples, why), 0);
	machine.offline[1] = true;
	finish();
	/* By the third CPU, and all of it. */
	for (unsigned int i = 0; i < 4; i++) {
		assert_true(machine.registers[0][0xe01 + 0xe * i] == 0);
		assert_true(machine.registers[1][0xe01 + 0xe * i] == 0);
	}
}

/* Where /dev is devtmpfs. */
TEST(another_cpu_stands_in_for_one_without_a_file)
{
	machine.removes = machine.offline[0] = machine.offline[4] = true;
	machine.first = 1;
	assert_int_equal(open_model("icx"), 0);
	assert_int_equal(tier__read(tier, samples, why), 0);
	finish();
	for (unsigned int i = 0; i < CPUS; i++)
		machine.offline[i] = true;
	assert_refused("icx", -EOPNOTSUPP, "there is no /dev/cpu/0/msr");
	assert_string_equal(todo, "load the msr module: modprobe msr");
}

TEST(a_package_without_a_cpu_is_an_error)
{
	for (unsigned int i = 4; i < 8; i++)
		machine.offline[i] = true;
	assert_refused("icx", -EOPNOTSUPP, "offline");
	make_machine();
	assert_int_equal(open_model("icx"), 0);
	for (unsigned int i = 0; i < 8; i++)
		machine.offline[i] = true;
	for (unsigned int i = 1; i < TIER_PATIENCE; i++)
		assert_int_equal(tier__read(tier, samples, why), 0);
	assert_true(tier__read(tier, samples, why) < 0);
	assert_has(why, "offline");
	assert_true(tier__close(tier, why) < 0);
}

TEST(lockdown_is_named)
{
	machine.write_error = -EPERM;
	unit_write(dir, "sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	assert_refused("icx", -EOPNOTSUPP, "locked down");
	assert_string_equal(todo, "use --method perf");
	unit_write(dir, "sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	assert_refused("icx", -EACCES, "does not let this user");
	unit_write(dir, "sys/module/msr/parameters/allow_writes", "off\n");
	assert_refused("icx", -EOPNOTSUPP, "does not allow writes");
}

static uint64_t before[2][REGISTERS];

static void remember(void)
{
	memcpy(before, machine.registers, sizeof(before));
}

static void assert_untouched(void)
{
	assert_memory_equal(before, machine.registers, sizeof(before));
}

/* A refusal because of one box leaves all as they were, also those before it. */
TEST(counters_in_use_are_left_alone)
{
	machine.registers[1][0xe01 + 0xe * 3 + 2] = 0x400000;
	remember();
	assert_refused("icx", -EBUSY, "counter 2 of CHA 3 is in use");
	assert_untouched();
	config.take = true;
	assert_int_equal(open_model("icx"), 0);
	finish();
	assert_untouched();
}

TEST(looking_writes_nothing)
{
	config.look = true;
	for (unsigned int i = 0; i < REGISTERS; i++)
		machine.registers[0][i] = unit_random() & ~0x400000ULL;
	remember();
	assert_int_equal(open_model("icx"), 0);
	finish();
	assert_untouched();
}

/* Before anything is written, and also if another program uses the counters. */
TEST(another_latscope_is_left_alone)
{
	assert_int_equal(open_model("icx"), 0);
	assert_int_equal(machine.locks, 1);
	remember();
	finish();
	memcpy(machine.registers, before, sizeof(before));
	machine.locked = true;
	for (unsigned int i = 0; i < 4; i++) {
		config.take = i & 1;
		config.look = i & 2;
		assert_refused("icx", -EBUSY, "another latscope is using these counters");
		assert_untouched();
	}
	/* The lock is free: the process that had set them has ended. */
	machine.locked = config.take = false;
	for (unsigned int i = 0; i < 2; i++) {
		config.look = i;
		assert_refused("icx", -EBUSY, "a killed latscope left the CHAs programmed");
		assert_untouched();
	}
}

UNIT_FIXTURES(.each = { begin }, .all = { unit_enter_dir, unit_leave_dir })
