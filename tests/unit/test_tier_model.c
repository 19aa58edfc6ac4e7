// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables against the values as they are published, each written out here once more: config and
 * MSR control of every event, address of every box.
 */
#include "unit.h"

#include "probes/tierlat/model.h"

static const struct tier_model *model_of(const char *name)
{
	const struct tier_model *model = tier_model__find(name);

	assert_non_null(model);
	return model;
}

static const struct tier_class *class_of(const struct tier_model *model, const char *name)
{
	for (unsigned int i = 0; i < model->nr_tiers; i++) {
		if (!strcmp(model->tiers[i].name, name))
			return &model->tiers[i];
	}
	fail_msg("%s has no tier %s", model->name, name);
	return NULL;
}

/* As perf takes them, of one model or more. */
static const struct {
	const char *models, *tier;
	uint64_t occupancy, inserts, config1;
} configs[] = {
	{ "skx clx cpx", "local", 0x2136, 0x2135, 0x0004043200000000 },
	{ "skx clx cpx", "remote", 0x2136, 0x2135, 0x0004043100000000 },
	{ "icx spr emr gnr", "local-ddr", 0x00c8168600000136, 0x00c8168600000135, 0 },
	{ "icx spr emr gnr", "remote-ddr", 0x00c8170600000136, 0x00c8170600000135, 0 },
	{ "icx spr", "local-pmm", 0x00c8168a00000136, 0x00c8168a00000135, 0 },
	{ "icx spr", "remote-pmm", 0x00c8170a00000136, 0x00c8170a00000135, 0 },
	{ "emr", "local-cxl", 0x20c8168200000136, 0x20c8168200000135, 0 },
	{ "srf cwf", "local", 0x00c826fe00000136, 0x00c826fe00000135, 0 },
	{ "srf cwf", "remote", 0x00c8277e00000136, 0x00c8277e00000135, 0 },
	{ "snr grr", "memory", 0x00c827fe00000136, 0x00c827fe00000135, 0 },
	{ "zen4 zen6", "near-dram", 0x0303c000000001ac, 0x0303c000000001ad, 0 },
	{ "zen4", "far-dram", 0x0303c000000002ac, 0x0303c000000002ad, 0 },
	{ "zen5", "near-ext", 0x0303c000000010ac, 0x0303c000000010ad, 0 },
	{ "zen5 zen6", "far-ext", 0x0303c000000020ac, 0x0303c000000020ad, 0 },
};

/* The next model of a list; NULL: there is none. */
static const struct tier_model *next_model(const char **models)
{
	char name[16];
	int len = 0;

	if (sscanf(*models, " %15s%n", name, &len) != 1)
		return NULL;
	*models += len;
	return model_of(name);
}

TEST(events_are_as_published)
{
	for (size_t i = 0; i < COUNT_OF(configs); i++) {
		const char *models = configs[i].models;
		const struct tier_model *model;

		while ((model = next_model(&models))) {
			const struct tier_class *class = class_of(model, configs[i].tier);

			assert_true(class->occupancy == configs[i].occupancy);
			assert_true(class->inserts == configs[i].inserts);
			assert_true(class->config1 == configs[i].config1);
		}
	}
}

/* Values of the register; the one of ICX is also in Colloid's code. */
TEST(controls_are_as_published)
{
	static const struct {
		const char *model;
		uint64_t config, control;
	} controls[] = {
		{ "skx", 0x2136, 0x402136 },
		{ "clx", 0x2135, 0x402135 },
		{ "icx", 0x00c8168600000136, 0x00c8168600400136 },
		{ "icx", 0x00c8170600000135, 0x00c8170600400135 },
		{ "icx", 0x0, 0x400000 },
		{ "spr", 0x00c8168600000136, 0x00c8168600000136 },
		{ "emr", 0x20c8168200000136, 0x20c8168200000136 },
		{ "gnr", 0x1, 0x1 },
		{ "srf", 0x00c826fe00000136, 0x00c826fe00000136 },
		{ "cpx", 0x2136, 0x402136 },
		{ "snr", 0x00c827fe00000136, 0x00c827fe00400136 },
		{ "grr", 0x00c827fe00000136, 0x00c827fe00000136 },
	};

	for (size_t i = 0; i < COUNT_OF(controls); i++)
		assert_true(tier_layout__control(model_of(controls[i].model)->layout,
						 controls[i].config) == controls[i].control);
}

TEST(clockticks_moved_with_spr)
{
	const char *before = "skx clx icx cpx snr", *since = "spr emr gnr srf cwf grr";
	const struct tier_model *model;

	while ((model = next_model(&before)))
		assert_int_equal(model->clock, 0);
	while ((model = next_model(&since)))
		assert_int_equal(model->clock, 1);
}

/* Ice Lake: Linux's icx_cha_msr_offsets[], each from the CHA at 0xb60 on. */
static const uint16_t icx_offsets[] = {
	0x2a0, 0x2ae, 0x2bc, 0x2ca, 0x2d8, 0x2e6, 0x2f4, 0x302, 0x310, 0x31e,
	0x32c, 0x33a, 0x348, 0x356, 0x364, 0x372, 0x380, 0x38e, 0x3aa, 0x3b8,
	0x3c6, 0x3d4, 0x3e2, 0x3f0, 0x3fe, 0x40c, 0x41a, 0x428, 0x436, 0x444,
	0x452, 0x460, 0x46e, 0x47c, 0x000, 0x00e, 0x01c, 0x02a, 0x038, 0x046,
};

TEST(boxes_of_icx_are_in_three_ranges)
{
	const struct tier_layout *layout = model_of("icx")->layout;

	assert_int_equal(layout->boxes, 40);
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(tier_layout__box(layout, i), 0xb60 + icx_offsets[i]);
}

TEST(other_boxes_are_in_one)
{
	for (unsigned int i = 0; i < 28; i++) {
		assert_int_equal(tier_layout__box(model_of("skx")->layout, i), 0xe00 + 0x10 * i);
		assert_int_equal(tier_layout__box(model_of("clx")->layout, i), 0xe00 + 0x10 * i);
	}
	for (unsigned int i = 0; i < TIER_BOXES; i++) {
		assert_int_equal(tier_layout__box(model_of("spr")->layout, i), 0x2000 + 0x10 * i);
		assert_int_equal(tier_layout__box(model_of("srf")->layout, i), 0x2000 + 0x10 * i);
	}
}

/* No two registers of two boxes share an address. */
TEST(registers_do_not_overlap)
{
	for (size_t m = 0; tier_models[m]; m++) {
		const struct tier_layout *layout = tier_models[m]->layout;
		static unsigned char used[0x4000];

		if (!layout)
			continue;
		memset(used, 0, sizeof(used));
		for (unsigned int i = 0; i < layout->boxes; i++) {
			uint32_t box = tier_layout__box(layout, i);

			used[box]++;
			used[box + layout->filter0]++;
			if (layout->filter1)
				used[box + layout->filter1]++;
			for (unsigned int c = 0; c < TIER_COUNTERS; c++) {
				used[box + layout->control + c]++;
				used[box + layout->counter + c]++;
			}
		}
		for (size_t i = 0; i < sizeof(used); i++)
			assert_true(used[i] <= 1);
	}
}

TEST(bits_of_the_box_are_as_published)
{
	const char *before = "skx clx icx", *since = "spr emr gnr srf";
	const struct tier_model *model;

	while ((model = next_model(&before))) {
		const struct tier_layout *layout = model->layout;

		assert_true(layout->reset == 0x3 && layout->freeze == 0x100);
		assert_true(layout->enable == 0x400000 && layout->control == 1);
		assert_true(layout->counter == 8 && layout->filter0 == 5);
		assert_true(layout->filter1 == (strcmp(model->name, "icx") ? 6 : 0));
	}
	while ((model = next_model(&since))) {
		const struct tier_layout *layout = model->layout;

		assert_true(layout->reset == 0x300 && layout->freeze == 0x1);
		assert_true(layout->enable == 0 && layout->control == 2);
		assert_true(layout->counter == 8 && layout->filter0 == 0xe);
		assert_true(layout->filter1 == 0);
	}
}

/* An enable bit where there is one, any event where there is none, and nothing when frozen. */
TEST(a_counter_in_use_is_known)
{
	const struct tier_layout *icx = model_of("icx")->layout, *spr = model_of("spr")->layout;

	assert_true(tier_layout__counts(icx, 0, 0x400000));
	assert_false(tier_layout__counts(icx, 0, 0x00c8168600000136));
	assert_false(tier_layout__counts(icx, 0x100, 0x400000));
	assert_true(tier_layout__counts(spr, 0, 0x1));
	assert_false(tier_layout__counts(spr, 0, 0));
	assert_false(tier_layout__counts(spr, 1, 0x1));
}

#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"

/* Never guessed: clients, Zen 3, another vendor with the numbers of a known one are "none". */
static const struct {
	const char *vendor;
	unsigned int family, model, stepping;
	const char *name;
} cpus[] = {
	{ INTEL, 6, 0x55, 4, "skx" },		{ INTEL, 6, 0x55, 5, "clx" },
	{ INTEL, 6, 0x55, 7, "clx" },		{ INTEL, 6, 0x55, 10, "cpx" },
	{ INTEL, 6, 0x55, 11, "cpx" },		{ INTEL, 6, 0x6a, 6, "icx" },
	{ INTEL, 6, 0x6c, 1, "icx" },		{ INTEL, 6, 0x8f, 8, "spr" },
	{ INTEL, 6, 0xcf, 2, "emr" },		{ INTEL, 6, 0xad, 0, "gnr" },
	{ INTEL, 6, 0xae, 0, "gnr" },		{ INTEL, 6, 0xaf, 3, "srf" },
	{ AMD, 0x19, 0x11, 1, "zen4" },		{ AMD, 0x19, 0x61, 2, "zen4" },
	{ AMD, 0x1a, 0x02, 1, "zen5" },		{ INTEL, 6, 0xdd, 0, "cwf" },
	{ INTEL, 6, 0x86, 4, "snr" },		{ INTEL, 6, 0xb6, 0, "grr" },
	{ AMD, 0x1a, 0x50, 0, "zen6" },		{ AMD, 0x1a, 0xa8, 0, "zen6" },
	{ AMD, 0x1a, 0xcf, 0, "zen6" },		{ INTEL, 6, 0x97, 2, "none" },
	{ INTEL, 6, 0xde, 0, "none" },		{ INTEL, 15, 0x6a, 0, "none" },
	{ AMD, 0x19, 0x01, 1, "none" },		{ AMD, 0x19, 0x21, 1, "none" },
	{ AMD, 0x1a, 0x30, 0, "none" },		{ AMD, 0x1a, 0xd0, 0, "none" },
	{ "CentaurHauls", 6, 0x6a, 6, "none" },
};

TEST(cpu_models_are_distinguished)
{
	for (size_t i = 0; i < COUNT_OF(cpus); i++) {
		struct tier_cpu cpu = { 0 };
		const struct tier_model *found;

		strcpy(cpu.vendor, cpus[i].vendor);
		cpu.family = cpus[i].family;
		cpu.model = cpus[i].model;
		cpu.stepping = cpus[i].stepping;
		found = tier_model__of(&cpu);
		assert_string_equal(found ? found->name : "none", cpus[i].name);
	}
	assert_null(tier_model__find("ICX"));
	assert_null(tier_model__find(""));
}

/* If the files list inserts by tier, but occupancy only of all tiers together. */
TEST(derived_values_are_marked)
{
	for (size_t i = 0; tier_models[i]; i++) {
		const char *name = tier_models[i]->name;
		bool derived = !strcmp(name, "srf") || !strcmp(name, "cwf");

		assert_int_equal(tier_models[i]->derived, derived);
	}
}

static const char cpuinfo[] = "processor\t: 0\n"
			      "vendor_id\t: GenuineIntel\n"
			      "cpu family\t: 6\n"
			      "model\t\t: 106\n"
			      "model name\t: Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz\n"
			      "stepping\t: 6\n"
			      "flags\t\t: fpu vme hypervisor-like avx512f%s\n"
			      "\n"
			      "processor\t: 1\n"
			      "model\t\t: 1\n";

TEST(cpuinfo_is_read)
{
	struct tier_cpu cpu;

	unit_write(dir, "proc/cpuinfo", unit_text(cpuinfo, ""));
	assert_int_equal(tier_cpu__read(&cpu, dir), 0);
	assert_string_equal(cpu.vendor, "GenuineIntel");
	assert_string_equal(cpu.name, "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz");
	assert_int_equal(cpu.family, 6);
	assert_int_equal(cpu.model, 106);
	assert_int_equal(cpu.stepping, 6);
	assert_false(cpu.hypervisor);
	unit_write(dir, "proc/cpuinfo", unit_text(cpuinfo, " hypervisor"));
	assert_int_equal(tier_cpu__read(&cpu, dir), 0);
	assert_true(cpu.hypervisor);
}

TEST(invalid_cpuinfo_is_refused)
{
	struct tier_cpu cpu;

	unit_write(dir, "proc/cpuinfo", "Features\t: fp asimd\nCPU implementer\t: 0x41\n");
	assert_int_equal(tier_cpu__read(&cpu, dir), -EUCLEAN);
	unit_write(dir, "proc/cpuinfo", "");
	assert_int_equal(tier_cpu__read(&cpu, dir), -EUCLEAN);
	assert_int_equal(tier_cpu__read(&cpu, "/nowhere"), -ENOENT);
}

UNIT_FIXTURES(.all = { unit_enter_dir, unit_leave_dir })
