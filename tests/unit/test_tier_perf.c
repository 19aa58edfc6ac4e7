// SPDX-License-Identifier: BSD-2-Clause
/* The perf method with a fake /sys and a simulated kernel: no test machine has uncore PMUs. */
#include "unit.h"

#include <linux/perf_event.h>

#include "probes/tierlat/sysfs.h"
#include "probes/tierlat/tier.h"

#define PMUS "sys/bus/event_source/devices"
#define EVENTS 2048

/* Opened events, and how much each counts per second. */
static struct {
	struct perf_event_attr attr;
	int cpu, group;
	bool open;
	double rate;
	uint64_t value;
} events[EVENTS];

static struct {
	unsigned int nr, open, reads;
	uint64_t enabled_ns, running_ns;
	int open_error; /* of the event that comes after so many */
	unsigned int error_after;
	int read_error; /* of the group of this leader */
	unsigned int faulty;
	ssize_t short_by;
} kernel;

static double clock_hz, latency_ns, requests;

/* All a test's boxes see the same load; remote requests take twice as long. */
static double rate_of(const struct perf_event_attr *attr)
{
	uint64_t filter = attr->config >> 32 ? attr->config >> 32 : attr->config1 >> 32;
	bool remote = filter == 0x00c81706 || filter == 0x00040431 || filter == 0x00c8277e;
	double rate = requests / (remote ? 4 : 1), latency = latency_ns * (remote ? 2 : 1);

	switch (attr->config & 0xff) {
	case 0x35:
		return rate;
	case 0x36:
		return rate * latency * 1e-9 * clock_hz;
	case 0xac:
		return rate * latency / 10;
	case 0xad:
		return rate;
	default:
		return clock_hz;
	}
}

static int fake_perf_event_open(struct perf_event_attr *attr, int cpu, int group)
{
	unsigned int i = kernel.nr;

	if (kernel.open_error && i == kernel.error_after)
		return kernel.open_error;
	assert_true(i < EVENTS && cpu >= 0);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_int_equal(attr->sample_period, 0);
	assert_int_equal(attr->read_format, PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
						    PERF_FORMAT_TOTAL_TIME_RUNNING);
	events[i].attr = *attr;
	events[i].cpu = cpu;
	events[i].group = group;
	events[i].open = true;
	events[i].rate = rate_of(attr);
	events[i].value = 0;
	kernel.nr++;
	kernel.open++;
	return (int)i;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	uint64_t *values = buf, nr = 0;

	kernel.reads++;
	assert_true(events[fd].open);
	if (kernel.read_error && (unsigned int)fd == kernel.faulty)
		return kernel.read_error;
	for (unsigned int i = 0; i < kernel.nr; i++) {
		if (i == (unsigned int)fd || events[i].group == fd)
			values[3 + nr++] = events[i].value;
	}
	values[0] = nr;
	values[1] = kernel.enabled_ns;
	values[2] = kernel.running_ns;
	assert_int_equal(size, (3 + nr) * 8);
	return (ssize_t)size - kernel.short_by;
}

static void fake_close(int fd)
{
	assert_true(events[fd].open);
	events[fd].open = false;
	kernel.open--;
}

static uint64_t fake_now(void)
{
	return kernel.enabled_ns;
}

static int no_file(const char *path, int flags)
{
	return -ENOENT;
}

static const struct tier_sys fake = {
	.open = no_file,
	.read = fake_read,
	.perf_event_open = fake_perf_event_open,
	.close = fake_close,
	.now_ns = fake_now,
};

/* `share` of the time the counters ran. */
static void pass(double seconds, double share)
{
	for (unsigned int i = 0; i < kernel.nr; i++)
		events[i].value += (uint64_t)(events[i].rate * seconds * share);
	kernel.enabled_ns += (uint64_t)(seconds * 1e9);
	kernel.running_ns += (uint64_t)(seconds * share * 1e9);
}

static void write_in(const char *format, const char *pmu, const char *content)
{
	unit_write(dir, unit_text(format, pmu), content);
}

static void add_pmu(const char *pmu, const char *type, const char *cpumask, const char *umask)
{
	write_in(PMUS "/%s/type", pmu, type);
	write_in(PMUS "/%s/cpumask", pmu, cpumask);
	write_in(PMUS "/%s/format/event", pmu, "config:0-7\n");
	write_in(PMUS "/%s/format/umask", pmu, umask);
	write_in(PMUS "/%s/format/edge", pmu, "config:18\n");
}

static void set_cpu(const char *vendor, const char *name, unsigned int family, unsigned int model,
		    const char *flags)
{
	unit_write(dir, "proc/cpuinfo",
		   unit_text("vendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: %s\n"
			     "stepping\t: 3\nflags\t\t: fpu %s\n",
			     vendor, family, model, name, flags));
}

static void set_cpuinfo(unsigned int model, const char *flags)
{
	set_cpu("GenuineIntel", "Some Xeon", 6, model, flags);
}

static void reset_kernel(void)
{
	memset(&kernel, 0, sizeof(kernel));
	memset(events, 0, sizeof(events));
	clock_hz = 2.2e9;
	latency_ns = 95;
	requests = 3e6;
}

static void remove_all(void)
{
	unit_empty_dir();
	reset_kernel();
}

#define OLD_UMASK "config:8-15,32-55\n"
#define NEW_UMASK "config:8-15,32-63\n"

/* Two sockets with `boxes` CHAs each. */
static void make_machine(unsigned int model, unsigned int boxes, const char *umask)
{
	remove_all();
	set_cpuinfo(model, "");
	unit_write_socket(dir, 0, 0);
	unit_write_socket(dir, 28, 1);
	for (unsigned int i = 0; i < boxes; i++) {
		add_pmu(unit_text("uncore_cha_%u", i), unit_text("%u\n", 40 + i), "0,28\n", umask);
	}
}

static struct tier *tier;
static struct tier_sample samples[64];
static char why[TIER_TEXT];
static const char *todo;

static int open_with(const char *tiers)
{
	struct tier_config config = {
		.method = TIER_PERF, .root = dir, .tiers = tiers, .min_inserts = 10, .sys = &fake
	};

	why[0] = '\0';
	return tier__open(&tier, &config, why, &todo);
}

static void start(void)
{
	if (open_with(NULL))
		fail_msg("%s", why);
}

static void finish(void)
{
	assert_int_equal(tier__close(tier, why), 0);
	assert_int_equal(kernel.open, 0);
}

/* As pass(), and reads. */
static void read_after(double seconds, double share)
{
	pass(seconds, share);
	assert_int_equal(tier__read(tier, samples, why), 0);
}

static void assert_refused(const char *tiers, int err, const char *says)
{
	assert_int_equal(open_with(tiers), err);
	assert_has(why, says);
}

static void assert_sample(unsigned int i, int socket, double latency, double rate)
{
	const struct tier_latency *result = &samples[i].latency;

	assert_int_equal(samples[i].socket, socket);
	assert_true(result->latency_known);
	assert_true(fabs(result->latency_ns / latency - 1) < 0.001);
	assert_true(fabs(result->rate / rate - 1) < 0.001);
	assert_true(fabs(result->clock_hz / clock_hz - 1) < 0.001);
}

TEST(latencies_are_right)
{
	static const unsigned int models[] = { 0x55, 0x6a, 0x8f, 0xcf, 0xad };

	for (size_t i = 0; i < COUNT_OF(models); i++) {
		make_machine(models[i], 8, NEW_UMASK);
		if (models[i] == 0x55) {
			write_in(PMUS "/%s/format/filter_loc", "uncore_cha_0", "config1:33\n");
			write_in(PMUS "/%s/format/all", "uncore_cha_0", "config1:32-63\n");
		}
		start();
		assert_string_equal(tier__method(tier), "perf");
		assert_int_equal(tier__scales(tier), models[i] == 0x55);
		assert_int_equal(tier__sockets(tier), 2);
		assert_int_equal(tier__samples(tier), 4);
		for (unsigned int j = 0; j < 3; j++) {
			read_after(0.5, 1);
			assert_null(tier__trouble(tier));
			for (unsigned int s = 0; s < 2; s++) {
				assert_sample(2 * s, (int)s, 95, 8 * 3e6);
				assert_sample(2 * s + 1, (int)s, 190, 8 * 3e6 / 4);
			}
		}
		finish();
	}
}

/* Only counter 0 counts occupancy, so one per group; all boxes are opened, on the mask's CPU. */
TEST(groups_are_as_the_counters_allow)
{
	unsigned int occupancies = 0;

	make_machine(0x6a, 4, "config:8-15,32-57\n");
	start();
	assert_int_equal(kernel.nr, 2 * 4 * 4);
	for (unsigned int i = 0; i < kernel.nr; i++) {
		bool leader = i % 4 == 0;

		occupancies += (events[i].attr.config & 0xff) == 0x36;
		assert_int_equal(events[i].group, leader ? -1 : (int)(i - i % 4));
		assert_int_equal(events[i].attr.type, 40 + i / 8);
		assert_int_equal(events[i].cpu, i / 4 % 2 ? 28 : 0);
	}
	assert_int_equal(occupancies, 8);
	assert_true(events[0].attr.config == 0x00c8168600000136);
	assert_true(events[1].attr.config == 0x00c8168600000135);
	assert_true(events[2].attr.config == 0);
	assert_true(events[3].attr.config == 0x00c8170600000135);
	assert_true(events[8].attr.config == 0x00c8170600000136);
	assert_true(events[11].attr.config == 0x00c8168600000135);
	finish();
}

/* With three tiers all inserts count; every fourth box counts the clock in place of its own. */
TEST(groups_of_three_tiers_count_all_inserts)
{
	static const uint64_t wanted[][4] = {
		{ 0x00c8168600000136, 0x00c8168600000135, 0x00c8170600000135, 0x20c8168200000135 },
		{ 0x00c8170600000136, 0x00c8170600000135, 0x20c8168200000135, 0x00c8168600000135 },
		{ 0x20c8168200000136, 0x20c8168200000135, 0x00c8168600000135, 0x00c8170600000135 },
		{ 0x00c8168600000136, 0x1, 0x20c8168200000135, 0x00c8170600000135 },
	};

	make_machine(0xcf, 4, NEW_UMASK);
	unit_write(dir, "sys/bus/cxl/devices/mem0", "");
	start();
	assert_int_equal(kernel.nr, 2 * 4 * 4);
	for (unsigned int i = 0; i < kernel.nr; i++) {
		assert_int_equal(events[i].group, i % 4 ? (int)(i - i % 4) : -1);
		assert_true(events[i].attr.config == wanted[i / 8][i % 4]);
	}
	read_after(0.5, 0.5);
	for (unsigned int s = 0; s < 2; s++) {
		assert_sample(3 * s, (int)s, 95, 4 * 3e6);
		assert_sample(3 * s + 1, (int)s, 190, 4 * 3e6 / 4);
		assert_sample(3 * s + 2, (int)s, 95, 4 * 3e6);
		assert_int_equal(samples[3 * s].latency.boxes, 1);
	}
	finish();
}

/* One read a group, and nothing else. */
TEST(a_sample_is_one_call_a_box)
{
	make_machine(0xcf, 40, NEW_UMASK);
	for (unsigned int tiers = 2; tiers <= 3; tiers++) {
		uint64_t calls;

		start();
		assert_int_equal(tier__samples(tier), 2 * tiers);
		calls = tier__calls(tier);
		kernel.reads = 0;
		read_after(0.1, 1);
		assert_int_equal(kernel.reads, 80);
		assert_int_equal(tier__calls(tier) - calls, 80);
		finish();
		unit_write(dir, "sys/bus/cxl/devices/mem0", "");
	}
}

TEST(multiplexed_counts_are_scaled_and_reported)
{
	char kind[TIER_TEXT];

	make_machine(0x6a, 8, "config:8-15,32-57\n");
	start();
	read_after(1, 0.4);
	assert_sample(0, 0, 95, 8 * 3e6);
	assert_has(tier__trouble(tier), "uncore_cha_0 and 15 more: counted part");
	assert_null(tier__trouble(tier));
	snprintf(kind, sizeof(kind), "%s", tier__trouble_kind(tier));
	/* Another running share is the same problem, and each problem is reported once. */
	read_after(1, 0.3);
	assert_has(tier__trouble(tier), "30 %");
	assert_string_equal(tier__trouble_kind(tier), kind);
	/* Not at all: there is nothing to be scaled. */
	read_after(1, 0);
	assert_false(samples[0].latency.latency_known || samples[0].latency.rate_known);
	assert_non_null(tier__trouble(tier));
	finish();
}

/* A program that writes the registers stops a box behind the kernel's back: its time goes on. */
TEST(a_box_that_stood_still_for_a_while_is_left_out)
{
	make_machine(0x6a, 8, "config:8-15,32-57\n");
	start();
	read_after(1, 1);
	for (unsigned int i = 0; i < kernel.nr; i++) {
		if (i == 0 || events[i].group == 0)
			events[i].value -= (uint64_t)(events[i].rate * 0.6);
	}
	read_after(1, 1);
	assert_has(tier__trouble(tier), "uncore_cha_0 (CPU 0): counts another clock");
	assert_int_equal(samples[0].latency.boxes_lost, 1);
	for (unsigned int i = 0; i < 4; i++)
		assert_sample(i, (int)i / 2, i % 2 ? 190 : 95, i % 2 ? 8 * 3e6 / 4 : 8 * 3e6);
	read_after(1, 1);
	assert_null(tier__trouble(tier));
	finish();
}

TEST(a_box_that_cannot_be_read_is_left_out)
{
	static const int errors[] = { -EIO, -ENODEV };

	for (unsigned int i = 0; i < 2; i++) {
		make_machine(0x6a, 8, "config:8-15,32-57\n");
		start();
		kernel.read_error = errors[i];
		kernel.faulty = 0;
		read_after(1, 1);
		assert_sample(0, 0, 95, 8 * 3e6);
		assert_int_equal(samples[0].latency.boxes, 3);
		assert_non_null(tier__trouble(tier));
		finish();
	}
}

TEST(a_short_read_is_an_error)
{
	make_machine(0x6a, 4, "config:8-15,32-57\n");
	start();
	kernel.short_by = 8;
	pass(1, 1);
	for (unsigned int i = 1; i <= TIER_PATIENCE; i++)
		assert_int_equal(tier__read(tier, samples, why), i < TIER_PATIENCE ? 0 : -EIO);
	assert_has(why, "short read");
	finish();
	make_machine(0x6a, 4, "config:8-15,32-57\n");
	kernel.short_by = 8;
	assert_int_equal(open_with(NULL), -EIO);
	assert_int_equal(kernel.open, 0);
}

/* For any event that fails: a reason, and no descriptor stays open. */
TEST(a_start_that_fails_leaves_nothing_open)
{
	static const struct {
		int err, wanted;
	} errors[] = { { -EACCES, -EACCES },	 { -EPERM, -EACCES },	   { -EMFILE, -EMFILE },
		       { -ENODEV, -EOPNOTSUPP }, { -EINVAL, -EOPNOTSUPP }, { -EBUSY, -EBUSY } };

	make_machine(0x6a, 2, "config:8-15,32-57\n");
	for (size_t e = 0; e < COUNT_OF(errors); e++) {
		for (unsigned int after = 0; after < 16; after++) {
			reset_kernel();
			kernel.open_error = errors[e].err;
			kernel.error_after = after;
			assert_int_equal(open_with(NULL), errors[e].wanted);
			assert_true(why[0] && !strchr(why, '\n'));
			assert_int_equal(kernel.open, 0);
		}
	}
}

/* The driver before July 2024 masks bits 56 and up: CXL would count something else. */
TEST(a_filter_that_cannot_be_expressed_is_refused)
{
	make_machine(0xcf, 6, OLD_UMASK);
	assert_refused("local-ddr,local-cxl", -EOPNOTSUPP, "local-cxl");
	assert_int_equal(kernel.nr, 0);
	assert_int_equal(open_with("local-ddr,remote-ddr"), 0);
	finish();
	make_machine(0xcf, 6, NEW_UMASK);
	assert_int_equal(open_with("local-ddr,local-cxl"), 0);
	assert_true(events[8].attr.config == 0x20c8168200000136);
	finish();
	/* The halves of SKX's config1. */
	make_machine(0x55, 6, "config:8-15\n");
	assert_int_equal(open_with(NULL), -EOPNOTSUPP);
}

static void assert_measured(const char *tiers, unsigned int measured)
{
	assert_int_equal(open_with(tiers), 0);
	assert_int_equal(tier__measured(tier), measured);
	finish();
}

/* Not named, memory that is not there costs no boxes; a device on the bus brings it in. */
TEST(tiers_are_those_the_machine_has)
{
	make_machine(0xcf, 6, NEW_UMASK);
	assert_measured(NULL, 0x3);
	unit_write(dir, "sys/bus/cxl/devices/mem0", "");
	assert_measured(NULL, 0x7);
	unit_write(dir, "sys/bus/nd/devices/nmem0", "");
	assert_measured(NULL, 0x1f);
	assert_measured("local-cxl,local-ddr", 0x5);
}

TEST(tiers_that_make_no_sense_are_refused)
{
	static const char *const bad[] = { "local-ddr,",	  ",",	  "", "dram",
					   "local-ddr,local-ddr", "local" };

	make_machine(0xcf, 6, NEW_UMASK);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(open_with(bad[i]), -EINVAL);
		assert_true(why[0]);
	}
	make_machine(0xcf, 1, NEW_UMASK);
	assert_refused(NULL, -EINVAL, "2 tiers need 2 CHAs");
	make_machine(0xcf, 3, NEW_UMASK);
	assert_refused("local-ddr,remote-ddr,local-cxl", -EINVAL, "3 tiers need 4 CHAs");
}

TEST(machines_without_counters_are_refused)
{
	remove_all();
	set_cpuinfo(0x6a, "");
	assert_refused(NULL, -EOPNOTSUPP, "uncore_cha");
	set_cpuinfo(0x6a, "hypervisor");
	assert_refused(NULL, -EOPNOTSUPP, "hypervisor");
	set_cpuinfo(0x97, "");
	assert_refused(NULL, -EOPNOTSUPP, "Some Xeon (GenuineIntel family 6 model 151 stepping 3)");
	remove_all();
	assert_int_equal(open_with(NULL), -EOPNOTSUPP);
	assert_non_null(todo);
}

/* SPR on a kernel that knows its tables but not its names; numbers with holes. */
TEST(boxes_may_have_generic_names_and_holes)
{
	make_machine(0x8f, 0, NEW_UMASK);
	add_pmu("uncore_type_0_0", "40\n", "0,28\n", NEW_UMASK);
	add_pmu("uncore_type_0_17", "41\n", "0,28\n", NEW_UMASK);
	add_pmu("uncore_type_0_3", "42\n", "0,28\n", NEW_UMASK);
	add_pmu("uncore_type_1_0", "43\n", "0,28\n", NEW_UMASK);
	start();
	assert_int_equal(tier__boxes(tier, 0), 3);
	assert_int_equal(events[4 * 2].attr.type, 42);
	finish();
	/* Not boxes. */
	add_pmu("uncore_cha_0", "50\n", "0,28\n", NEW_UMASK);
	add_pmu("uncore_cha_1", "51\n", "0,28\n", NEW_UMASK);
	add_pmu("uncore_cha_", "52\n", "0,28\n", NEW_UMASK);
	add_pmu("uncore_cha_2x", "53\n", "0,28\n", NEW_UMASK);
	add_pmu("uncore_cha_free_running_0", "54\n", "0,28\n", NEW_UMASK);
	start();
	assert_int_equal(tier__boxes(tier, 0), 2);
	finish();
}

/* Only msr uses this option; there are no registers here, so the error is that of msr. */
TEST(options_of_msr_are_not_ignored)
{
	static const unsigned int cpus[] = { 0, 28 };
	const struct tier_config configs[] = {
		{ .boxes = 4 },
		{ .cpus = cpus, .nr_cpus = 2 },
		{ .take = true },
	};

	make_machine(0x6a, 8, "config:8-15,32-57\n");
	unit_write(dir, "sys/devices/system/cpu/online", "0,28\n");
	for (size_t i = 0; i < COUNT_OF(configs); i++) {
		struct tier_config config = configs[i];

		config.root = dir;
		config.sys = &fake;
		assert_int_equal(tier__open(&tier, &config, why, &todo), -EOPNOTSUPP);
		assert_has(why, "/dev/cpu/0/msr");
		assert_int_equal(kernel.nr, 0);
	}
}

static void set_amd(unsigned int family, unsigned int model)
{
	set_cpu("AuthenticAMD", "EPYC", family, model, "");
}

static void assert_offered(const char *says)
{
	char text[TIER_TEXT];

	tier__capabilities(text, dir);
	assert_has(text, says);
}

/* Whether or not there are counters: none here has any. */
TEST(capabilities_of_a_cpu_are_reported)
{
	remove_all();
	assert_offered("cannot tell what CPU");
	set_cpuinfo(0x97, "");
	assert_offered("Some Xeon (GenuineIntel family 6 model 151 stepping 3) is not in");
	set_cpuinfo(0xcf, "");
	assert_offered("Emerald Rapids: latencies in ns");
	assert_offered("of local-ddr, remote-ddr; no memory here of local-cxl, local-pmm, ");
	unit_write(dir, "sys/bus/cxl/devices/mem0", "");
	assert_offered("of local-ddr, remote-ddr, local-cxl; no memory here of local-pmm, ");
	set_amd(0x19, 0x11);
	assert_offered("AMD Zen 4: sampled latencies in clocks, not ns, no rates of near-dram, ");
	set_amd(0x1a, 0x02);
	assert_offered("AMD Zen 5: sampled latencies in ns, no rates of near-dram, ");
}

TEST(amd_gives_samples_by_l3)
{
	remove_all();
	set_amd(0x1a, 2);
	for (unsigned int i = 0; i < 4; i++)
		unit_write_socket(dir, 8 * i, i / 2);
	add_pmu("amd_l3", "11\n", "0,8,16,24\n", "config:8-15\n");
	write_in(PMUS "/%s/format/rest", "amd_l3", "config:42-44,46-50,56-57\n");
	start();
	assert_int_equal(kernel.nr, 4 * 2 * 2);
	assert_int_equal(tier__samples(tier), 4);
	assert_has(tier__mechanism(tier), "counters of the L3s by");
	read_after(1, 1);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(samples[i].socket, i / 2);
		assert_true(samples[i].latency.latency_known && !samples[i].latency.rate_known);
		assert_true(fabs(samples[i].latency.latency_ns - 95) < 0.1);
		assert_int_equal(samples[i].latency.boxes, 2);
	}
	finish();
}

TEST(cpu_lists_are_parsed)
{
	unsigned int cpus[8];

	assert_int_equal(sysfs_cpus__parse("0-3,8", cpus, 8), 5);
	assert_true(cpus[0] == 0 && cpus[3] == 3 && cpus[4] == 8);
	assert_int_equal(sysfs_cpus__parse("7", cpus, 8), 1);
	assert_int_equal(sysfs_cpus__parse("0-7", cpus, 8), 8);
	assert_int_equal(sysfs_cpus__parse("0-8", cpus, 8), -EUCLEAN);
}

TEST(formats_are_parsed)
{
	unsigned int which;
	uint64_t bits;

	assert_int_equal(sysfs_format__parse("config:8-15,32-63", &which, &bits), 0);
	assert_true(which == 0 && bits == 0xffffffff0000ff00);
	assert_int_equal(sysfs_format__parse("config1:0-63", &which, &bits), 0);
	assert_true(which == 1 && bits == UINT64_MAX);
	assert_int_equal(sysfs_format__parse("config:18", &which, &bits), 0);
	assert_true(bits == 1 << 18);
	assert_int_equal(sysfs_format__parse("config2:0", &which, &bits), 0);
	assert_int_equal(which, 2);
}

TEST(caches_have_a_size)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = { { "36608K\n", 36608 << 10 },
		      { "504M\n", 504ULL << 20 },
		      { "12\n", 0 },
		      { "K\n", 0 },
		      { "\n", 0 },
		      { "1KB\n", 0 } };

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		unit_write(dir, "sys/devices/system/cpu/cpu2/cache/index3/size", sizes[i].text);
		assert_true(sysfs__llc_bytes(dir, 2) == sizes[i].bytes);
	}
	assert_true(sysfs__llc_bytes(dir, 3) == 0);
}

TEST(invalid_lists_are_refused)
{
	static const char *const bad[] = { "",	  ",",	  "-",	    "1-", "-1", "1,,2", "1-2-3",
					   "2-1", "1,",	  "0x1",    " 1", "1 ", "1\n",	"a",
					   "1-b", "4096", "0-4095", "+1", "1;2" };
	static const char *const large[] = { "99999999999999999999", "1,2,3,4,5,6,7,8,9" };
	unsigned int cpus[8], which;
	uint64_t bits;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(sysfs_cpus__parse(bad[i], cpus, 8), -EUCLEAN);
		assert_int_equal(sysfs_format__parse(unit_text("config:%s", bad[i]), &which, &bits),
				 -EUCLEAN);
	}
	for (size_t i = 0; i < COUNT_OF(large); i++)
		assert_int_equal(sysfs_cpus__parse(large[i], cpus, 8), -EUCLEAN);
	assert_int_equal(sysfs_format__parse("config:99999999999999999999", &which, &bits),
			 -EUCLEAN);
	assert_int_equal(sysfs_format__parse("config", &which, &bits), -EUCLEAN);
	assert_int_equal(sysfs_format__parse("config3:1", &which, &bits), -EUCLEAN);
	assert_int_equal(sysfs_format__parse("config:64", &which, &bits), -EUCLEAN);
	assert_int_equal(sysfs_format__parse("config:0-64", &which, &bits), -EUCLEAN);
}

/* Whatever stands in the files: an error or a list that is within its bounds. */
TEST(random_text_does_no_harm)
{
	static const char letters[] = "0123456789-,:config \n";
	char text[32];

	for (unsigned int round = 0; round < 100000; round++) {
		size_t len = unit_random() % (sizeof(text) - 1);
		unsigned int cpus[8] = { 0 }, which = 9;
		uint64_t bits;
		int got;

		for (size_t i = 0; i < len; i++)
			text[i] = letters[unit_random() % (sizeof(letters) - 1)];
		text[len] = '\0';
		got = sysfs_cpus__parse(text, cpus, 8);
		assert_true(got == -EUCLEAN || (got > 0 && got <= 8));
		for (int i = 0; i < got; i++)
			assert_true(cpus[i] < TIER_CPUS);
		if (!sysfs_format__parse(text, &which, &bits))
			assert_true(which < 3 && bits);
	}
}

TEST(damaged_files_are_refused)
{
	static const struct {
		const char *file, *content;
	} damages[] = {
		{ "type", "" },
		{ "type", "many\n" },
		{ "type", "-1\n" },
		{ "type", "99999999999\n" },
		{ "cpumask", "\n" },
		{ "cpumask", "0-\n" },
		{ "cpumask", "0,5000\n" },
		{ "cpumask", "0,7\n" },
		{ "format/umask", "x\n" },
		{ "format/umask", "config:99\n" },
	};

	for (size_t i = 0; i < COUNT_OF(damages); i++) {

		make_machine(0x6a, 2, "config:8-15,32-57\n");
		unit_write(dir, unit_text(PMUS "/uncore_cha_0/%s", damages[i].file),
			   damages[i].content);
		assert_true(open_with(NULL) < 0);
		assert_true(why[0] && !strchr(why, '\n'));
		assert_int_equal(kernel.open, 0);
	}
}

UNIT_FIXTURES(.all = { unit_enter_dir, unit_leave_dir })
