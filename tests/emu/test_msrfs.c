// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tests of the emulator itself, with register numbers and contents from Intel's manuals, Linux and
 * PCM: they must pass before anything is tested with it.
 */
#include "emu.h"

#define LAST 3 /* no box */

struct generation {
	const char *name;
	unsigned int boxes;
	/* For three boxes: control of the box, control of the first counter, the first counter. */
	struct {
		uint64_t box, control, counter;
	} at[LAST];
	uint64_t reset, filter;
	uint64_t local, remote; /* occupancy; inserts are 1 less */
	uint64_t local_filter, remote_filter;
	uint64_t clock;
};

/* clang-format off */
#define SKYLAKE { { 0xe00, 0xe01, 0xe08 }, { 0xe10, 0xe11, 0xe18 }, { 0xfb0, 0xfb1, 0xfb8 } }, \
	0x3, 6, 0x402136, 0x402136, 0x40432, 0x40431, 0x400000
#define ICELAKE { { 0xeee, 0xeef, 0xef6 }, { 0xf0a, 0xf0b, 0xf12 }, { 0xba6, 0xba7, 0xbae } }, \
	0x3, 0, 0x00c8168600400136, 0x00c8170600400136, 0, 0, 0x400000
#define SAPPHIRE \
	{ { 0x2000, 0x2002, 0x2008 }, { 0x2010, 0x2012, 0x2018 }, { 0x23b0, 0x23b2, 0x23b8 } }, \
	0x300, 0

static const struct generation generations[] = {
	{ "skx", 28, SKYLAKE },
	{ "clx", 28, SKYLAKE },
	{ "icx", 40, ICELAKE },
	{ "spr", 60, SAPPHIRE, 0x00c8168600000136, 0x00c8170600000136, 0, 0, 0x1 },
	{ "emr", 60, SAPPHIRE, 0x00c8168600000136, 0x00c8170600000136, 0, 0, 0x1 },
	{ "gnr", 60, SAPPHIRE, 0x00c8168600000136, 0x00c8170600000136, 0, 0, 0x1 },
	{ "srf", 60, SAPPHIRE, 0x00c826fe00000136, 0x00c8277e00000136, 0, 0, 0x1 },
	{ "grr", 60, SAPPHIRE, 0x00c826fe00000136, 0x00c8277e00000136, 0, 0, 0x1 },
	{ "cpx", 28, SKYLAKE },
	{ "snr", 6,
	  { { 0x1c00, 0x1c01, 0x1c08 }, { 0x1c10, 0x1c11, 0x1c18 }, { 0x1c50, 0x1c51, 0x1c58 } },
	  0x3, 0, 0x00c826fe00400136, 0x00c8277e00400136, 0, 0, 0x400000 },
};
/* clang-format on */

static uint64_t get(uint64_t reg)
{
	uint64_t value;

	assert_int_equal(emu__read(0, reg, &value), 0);
	return value;
}

static void put(uint64_t reg, uint64_t value)
{
	assert_int_equal(emu__write(0, reg, value), 0);
}

static void new_machine(const struct generation *gen)
{
	const char *opcode = strstr("srf grr snr", gen->name) ? "drd_opt" : "drd";

	emu__tell("machine gen=%s sockets=2 boxes=%u", gen->name, gen->boxes);
	emu__tell("stream name=near opcode=%s rate=6e7 latency=90", opcode);
	emu__tell("stream name=far opcode=%s rate=3e7 latency=180 remote=1", opcode);
	emu__tell("stream name=own opcode=rfo rate=1e9 latency=50");
	emu__tell("stream name=hits opcode=%s rate=1e9 latency=20 hit=1", opcode);
}

/* Checks the latency that a box measures for one tier in a second of 2e9 clocks. */
static void assert_latency(const struct generation *gen, unsigned int i, bool remote, double wanted)
{
	uint64_t control = gen->at[i].control, counter = gen->at[i].counter;
	uint64_t event = remote ? gen->remote : gen->local;

	put(gen->at[i].box, gen->reset);
	if (gen->filter)
		put(gen->at[i].box + gen->filter, remote ? gen->remote_filter : gen->local_filter);
	put(control, event);
	put(control + 1, event - 1);
	put(control + 2, gen->clock);
	put(control + 3, event); /* which only counter 0 can count */
	assert_int_equal(get(counter), 0);
	emu__tell("advance ns=1e9");
	assert_int_equal(get(counter + 2), 2000000000);
	assert_int_equal(get(counter + 1), (remote ? 3e7 : 6e7) / gen->boxes);
	assert_int_equal(get(counter + 3), 0);
	assert_true(fabs(get(counter) / get(counter + 1) / 2.0 - wanted) < 1);
}

TEST(every_generation_measures_the_set_latency)
{
	for (unsigned int i = 0; i < COUNT_OF(generations); i++) {
		new_machine(&generations[i]);
		for (unsigned int j = 0; j < LAST; j++) {
			assert_latency(&generations[i], j, false, 90);
			assert_latency(&generations[i], j, true, 180);
		}
	}
}

TEST(freezing_stops_and_wrapping_goes_on)
{
	emu__tell("machine gen=icx boxes=1");
	put(0xe01, 0x400000);
	put(0xe08, 0xffffffffffff);
	put(0xe00, 0x100);
	emu__tell("advance ns=1e9");
	assert_int_equal(get(0xe08), 0xffffffffffff);
	put(0xe00, 0);
	emu__tell("advance ns=1000");
	assert_int_equal(get(0xe08), 1999);
	assert_int_equal(emu__number("/wraps"), 1);
	put(0xe01, 0); /* without its enable bit */
	emu__tell("advance ns=1000");
	assert_int_equal(get(0xe08), 1999);
	put(0x700, 1ULL << 63);
	put(0xe01, 0x420000); /* the reset bit does not stay */
	emu__tell("advance ns=1000");
	assert_int_equal(get(0xe01), 0x400000);
	assert_int_equal(get(0xe08), 0);
}

TEST(missing_registers_fault)
{
	static const struct {
		const char *gen;
		uint64_t reg, value;
	} bad[] = {
		{ "icx", 0xefc, 0 },	      { "icx", 0xe01, 1ULL << 58 },
		{ "skx", 0xe01, 1ULL << 32 }, { "spr", 0x2002, 1ULL << 22 },
		{ "spr", 0x2000, 3 },	      { "icx", 0xe00, 0x300 },
		{ "icx", 0xe08, 1ULL << 48 }, { "icx", 0xe06, 0 },
		{ "icx", 0xe0e, 0 },	      { "spr", 0x700, 0 },
	};
	uint64_t value;

	for (unsigned int i = 0; i < COUNT_OF(bad); i++) {
		emu__tell("machine gen=%s boxes=1", bad[i].gen);
		assert_int_equal(emu__write(0, bad[i].reg, bad[i].value), -EIO);
	}
	assert_int_equal(emu__read(0, 0x2010, &value), -EIO);
	assert_int_equal(emu__read(2, 0x2000, &value), -ENOENT);
}

TEST(faults_strike_as_planned)
{
	uint64_t value;

	emu__tell("machine gen=icx boxes=1");
	emu__tell("fault access=read reg=0xe08 err=5 times=1");
	emu__tell("after accesses=5 offline cpu=1");
	emu__tell("after accesses=6 poke reg=0xe01 value=0x400135");
	assert_int_equal(get(0xe09), 0);
	assert_int_equal(emu__read(0, 0xe08, &value), -EIO);
	assert_int_equal(get(0xe08), 0);
	assert_int_equal(emu__read(1, 0xe00, &value), 0);
	assert_int_equal(emu__read(1, 0xe00, &value), -ENXIO);
	assert_int_equal(emu__read(1, 0xe00, &value), -ENOENT);
	assert_int_equal(get(0xe01), 0x400135);
	emu__tell("heal");
	assert_int_equal(emu__read(1, 0xe00, &value), 0);
}

/* More requests under way queue longer, and what is moved to the other tier queues there. */
TEST(the_loop_balances)
{
	double near, rate, before = 0;

	emu__tell("machine gen=icx boxes=1");
	emu__tell("stream name=near idle=80 service=10 capacity=4e8");
	emu__tell("stream name=far idle=140 service=10 capacity=2e8 remote=1");
	for (unsigned int i = 1; i < 10; i++) {
		emu__tell("loop requests=40 p=%g", i / 10.0);
		near = emu__number("/streams/0/occupancy");
		rate = emu__number("/streams/0/rate");
		assert_true(near + emu__number("/streams/1/occupancy") > 39.99);
		assert_true(rate > before && rate < 4e8);
		before = rate;
	}
}

TEST(changed_registers_are_reported)
{
	emu__tell("machine gen=icx boxes=1");
	emu__tell("litter seed=1");
	emu__tell("mark");
	put(0xe02, 0x400135);
	assert_has(emu__writes(), "0 0xe02 0x", " 0x400135\n");
	assert_int_equal(emu__number("/writes/control"), 1);
	assert_int_equal(emu__number("/accesses"), 1);
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
