// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks each write of a register bit for bit, its cost, and that all registers are restored.
 * Addresses and values are copied from the manuals, not computed from the tables of tierlat or of
 * the emulator.
 */
#include "rig.h"

#include <sys/resource.h>

static const uint16_t icx_boxes[] = {
	0xe00, 0xe0e, 0xe1c, 0xe2a, 0xe38, 0xe46, 0xe54, 0xe62, 0xe70, 0xe7e,
	0xe8c, 0xe9a, 0xea8, 0xeb6, 0xec4, 0xed2, 0xee0, 0xeee, 0xf0a, 0xf18,
	0xf26, 0xf34, 0xf42, 0xf50, 0xf5e, 0xf6c, 0xf7a, 0xf88, 0xf96, 0xfa4,
	0xfb2, 0xfc0, 0xfce, 0xfdc, 0xb60, 0xb6e, 0xb7c, 0xb8a, 0xb98, 0xba6,
};

/* Values for a box that measures the near tier, and for one that measures the far tier. */
struct wanted {
	uint64_t occupancy, inserts, others, filter1;
};

struct programmed {
	uint16_t base, stride; /* 0: icx_boxes */
	uint8_t control, filter0, filter1; /* offsets; filter1 0: there is none */
	uint64_t clock;
	struct wanted wanted[2];
};

/* clang-format off */
#define SKYLAKE { 0xe00, 0x10, 1, 5, 6, 0x400000, \
	{ { 0x402136, 0x402135, 0, 0x40432 }, { 0x402136, 0x402135, 0, 0x40431 } } }
#define ICELAKE { 0, 0, 1, 5, 0, 0x400000, \
	{ { 0x00c8168600400136, 0x00c8168600400135, 0x00c8170600400135, 0 }, \
	  { 0x00c8170600400136, 0x00c8170600400135, 0x00c8168600400135, 0 } } }
#define SAPPHIRE { 0x2000, 0x10, 2, 0xe, 0, 0x1, \
	{ { 0x00c8168600000136, 0x00c8168600000135, 0x00c8170600000135, 0 }, \
	  { 0x00c8170600000136, 0x00c8170600000135, 0x00c8168600000135, 0 } } }
#define SIERRA { 0x2000, 0x10, 2, 0xe, 0, 0x1, \
	{ { 0x00c826fe00000136, 0x00c826fe00000135, 0x00c8277e00000135, 0 }, \
	  { 0x00c8277e00000136, 0x00c8277e00000135, 0x00c826fe00000135, 0 } } }

/* Skylake, Cascade Lake, Ice Lake, Sapphire, Emerald and Granite Rapids, Sierra Forest */
static const struct programmed programmed[RIG_GENERATIONS] = {
	SKYLAKE, SKYLAKE, ICELAKE, SAPPHIRE, SAPPHIRE, SAPPHIRE, SIERRA,
};
/* clang-format on */

static struct rig rig;

static uint64_t get(unsigned int socket, uint64_t reg)
{
	uint64_t value = 0;

	assert_int_equal(emu__read(2 * socket, reg, &value), 0);
	return value;
}

/* Which tier the box measures, once all its registers are right. */
static unsigned int assert_box(const struct programmed *map, unsigned int socket, uint64_t box)
{
	uint64_t control = box + map->control;
	const struct wanted *wanted = &map->wanted[0];

	if (get(socket, control) != wanted->occupancy ||
	    (map->filter1 && get(socket, box + map->filter1) != wanted->filter1))
		wanted++;
	assert_int_equal(get(socket, box), 0);
	assert_int_equal(get(socket, control), wanted->occupancy);
	assert_int_equal(get(socket, control + 1), wanted->inserts);
	assert_int_equal(get(socket, control + 2), map->clock);
	assert_int_equal(get(socket, control + 3), wanted->others);
	assert_int_equal(get(socket, box + map->filter0), 0);
	if (map->filter1)
		assert_int_equal(get(socket, box + map->filter1), wanted->filter1);
	return wanted - map->wanted;
}

static void assert_programmed(const struct programmed *map, unsigned int sockets,
			      unsigned int boxes)
{
	for (unsigned int i = 0; i < sockets; i++) {
		unsigned int far = 0;

		for (unsigned int j = 0; j < boxes; j++)
			far += assert_box(map, i,
					  map->base ? map->base + map->stride * j : icx_boxes[j]);
		assert_int_equal(far, boxes / 2);
	}
}

/* Fault 9: whatever was there before. The registers contain random values. */
TEST(every_register_is_as_documented)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		const struct rig_generation *gen = &rig_generations[i];
		struct rig_setup setup = {
			.gen = gen, .sockets = 2, .litter = i + 1, .take = true
		};

		rig__machine(&setup);
		rig__start(&rig, &setup);
		assert_programmed(&programmed[i], 2, gen->boxes);
		assert_int_equal(rig__read(&rig, 1e7), 0);
		assert_programmed(&programmed[i], 2, gen->boxes);
		rig__finish(&rig);
		if (programmed[i].control == 1) /* where they did not count before */
			assert_int_equal(rig__changed("counter"), 0);
	}
}

/* TOR_OCCUPANCY of the three tiers of Ice Lake and later; TOR_INSERTS has 35 for 36. */
static const uint64_t tiers[] = { 0x00c8168600000136, 0x00c8170600000136, 0x00c8168a00000136 };

/* Boxes take turns with the tiers, and every fourth counts its clock instead of its own inserts. */
static void assert_box_of_three(const struct programmed *map, uint64_t enable, unsigned int n)
{
	uint64_t box = map->base ? map->base + map->stride * n : icx_boxes[n];
	uint64_t control = box + map->control, own = tiers[n % 3];
	uint64_t others[] = { get(0, control + 2), get(0, control + 3) };
	bool turned = others[0] != (enable | (tiers[(n + 1) % 3] - 1));

	assert_int_equal(get(0, box), 0);
	assert_int_equal(get(0, control), enable | own);
	assert_int_equal(get(0, control + 1), n % 4 == 3 ? map->clock : enable | (own - 1));
	assert_int_equal(others[turned], enable | (tiers[(n + 1) % 3] - 1));
	assert_int_equal(others[!turned], enable | (tiers[(n + 2) % 3] - 1));
	assert_int_equal(get(0, box + map->filter0), 0);
}

TEST(three_tiers_are_as_documented)
{
	for (unsigned int i = 2; i < RIG_GENERATIONS - 1; i++) {
		struct rig_setup setup = { .gen = &rig_generations[i],
					   .tiers = "local-ddr,remote-ddr,local-pmm",
					   .boxes = 40,
					   .litter = i,
					   .take = true };

		rig__machine(&setup);
		rig__start(&rig, &setup);
		for (unsigned int n = 0; n < 2 * 40; n++) {
			assert_box_of_three(&programmed[i], i == 2 ? 0x400000 : 0, n % 40);
			if (n == 39)
				assert_int_equal(rig__read(&rig, 1e7), 0);
		}
		rig__finish(&rig);
	}
}

/* Counters that another program uses must not be touched, unless that was requested. */
TEST(counters_in_use_are_left_alone)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		const struct programmed *map = &programmed[i];
		struct rig_setup setup = { .gen = &rig_generations[i], .boxes = 2 };

		rig__machine(&setup);
		emu__tell("poke reg=%#x value=%#llx",
			  (map->base ? map->base + map->stride : icx_boxes[1]) + map->control + 3,
			  (unsigned long long)map->clock);
		emu__tell("mark");
		assert_int_equal(rig__open(&rig, &setup), -EBUSY);
		assert_true(rig.why[0]);
		assert_int_equal(emu__number("/writes/control") + emu__number("/writes/box") +
					 emu__number("/writes/filter") +
					 emu__number("/writes/counter"),
				 0);
		setup.take = true;
		rig__start(&rig, &setup);
		rig__finish(&rig);
	}
}

/* A function of the address sanitizer; gcc has no header for it. */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
					      void (*free_hook)(const volatile void *));

static uint64_t allocations;

static void count_allocation(const volatile void *at, size_t size)
{
	allocations++;
}

static void count_nothing(const volatile void *at)
{
}

#define COUNTERS (2 * 40 * 4)

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void begin_big(const char *names)
{
	struct rig_setup setup = {
		.gen = &rig_generations[2], .tiers = names, .sockets = 2, .boxes = 40
	};

	rig__machine(&setup);
	rig__start(&rig, &setup);
	assert_int_equal(rig__read(&rig, 1e7), 0);
}

static void assert_each_counter_is_read_once(const char *names)
{
	uint64_t told;

	begin_big(names);
	emu__tell("advance ns=1e8");
	emu__tell("mark");
	rig_calls = 0;
	allocations = 0;
	told = tier__calls(rig.tier);
	assert_int_equal(tier__read(rig.tier, rig.samples, rig.why), 0);
	assert_int_equal(allocations, 0);
	assert_int_equal(tier__calls(rig.tier) - told, rig_calls);
	assert_int_equal(emu__number("/reads/counter"), COUNTERS);
	assert_int_equal(emu__number("/most_reads"), 1);
	assert_int_equal(rig_calls, emu__number("/accesses"));
	print_message("a sample of 2 x 40 x 4 counters: %llu system calls, %.0f reads of counters, "
		      "%.0f of controls and filters, %.0f writes of box controls\n",
		      (unsigned long long)rig_calls, emu__number("/reads/counter"),
		      emu__number("/reads/control") + emu__number("/reads/filter"),
		      emu__number("/writes/box"));
	assert_int_equal(rig__close(&rig), 0);
}

TEST(a_sample_reads_each_counter_once)
{
	assert_each_counter_is_read_once("local-ddr,remote-ddr");
	assert_each_counter_is_read_once("local-ddr,remote-ddr,local-pmm");
}

/* CPU time of so many reads of a register alone. */
static double bare_reads(int fd, uint64_t count)
{
	double seconds = -cpu_seconds();
	uint64_t value;

	while (count--)
		assert_int_equal(pread(fd, &value, sizeof(value), 0xe08), sizeof(value));
	return seconds + cpu_seconds();
}

static double one_sample(void)
{
	double seconds = -cpu_seconds();

	rig_calls = 0;
	assert_int_equal(tier__read(rig.tier, rig.samples, rig.why), 0);
	return seconds + cpu_seconds();
}

/*
 * An access costs time in the emulator, so the time of as many bare accesses as a sample makes is
 * subtracted. Both are measured by turns, and the least of each counts: other programs' use of the
 * caches and the hypervisor only add time.
 */
TEST(a_sample_costs_little)
{
	double bare = INFINITY, whole = INFINITY;
	int fd;

	begin_big("all");
	fd = emu__open(0);
	assert_true(fd >= 0);
	for (unsigned int i = 0; i < 40; i++) {
		whole = fmin(whole, one_sample());
		bare = fmin(bare, bare_reads(fd, rig_calls));
	}
	close(fd);
	print_message("at 10 Hz %.2f %% of a CPU, of which %.2f %% are bare reads\n",
		      whole * 10 * 100, bare * 10 * 100);
	assert_true((whole - bare) * 10 < 0.02);
	rig__finish(&rig);
}

static void begin(void)
{
	__sanitizer_install_malloc_and_free_hooks(count_allocation, count_nothing);
	emu__begin();
}

UNIT_FIXTURES(.all = { begin, emu__end })
