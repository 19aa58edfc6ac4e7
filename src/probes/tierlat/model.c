// SPDX-License-Identifier: BSD-2-Clause
#include "model.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Events, from the event files that Intel publishes (github.com/intel/perfmon, 2026-08-13): SKX
 * 1.37, CLX 1.25 (also Cooper Lake's), ICX 1.30, SPR 1.39, EMR 1.24, GNR 1.20, SRF 1.18, CWF
 * 1.04, SNR 1.23, GRR 1.13.
 */
#define OCCUPANCY 0x36 /* UNC_CHA_TOR_OCCUPANCY, counter 0 only */
#define INSERTS 0x35 /* UNC_CHA_TOR_INSERTS */

/*
 * SKX and CLX: requests of the cores that miss the cache (umask IRQ | MISS). filter1 of the box
 * selects which; perf has it in the upper half of config1.
 */
#define SKX_TIER(which, text, filter)                                    \
	.name = which, .what = text, .occupancy = 0x21 << 8 | OCCUPANCY, \
	.inserts = 0x21 << 8 | INSERTS, .config1 = (uint64_t)(filter) << 32

/* From ICX on: umask IRQ_IA, and the rest of the filter in the extension in bits 63:32. */
#define TOR_TIER(which, text, ext, condition)                                                    \
	.name = which, .what = text, .occupancy = (uint64_t)(ext) << 32 | 0x01 << 8 | OCCUPANCY, \
	.inserts = (uint64_t)(ext) << 32 | 0x01 << 8 | INSERTS, .needs = condition

#define LOCAL_DDR TOR_TIER("local-ddr", "DDR of this socket", 0x00c81686, TIER_ALWAYS)
#define REMOTE_DDR TOR_TIER("remote-ddr", "DDR of other sockets", 0x00c81706, TIER_ALWAYS)
#define LOCAL_PMM TOR_TIER("local-pmm", "persistent memory of this socket", 0x00c8168a, TIER_IF_PMM)
#define REMOTE_PMM \
	TOR_TIER("remote-pmm", "persistent memory of other sockets", 0x00c8170a, TIER_IF_PMM)
#define LOCAL_CXL TOR_TIER("local-cxl", "CXL type-3 memory of this socket", 0x20c81682, TIER_IF_CXL)

/* E-cores: their demand reads are DRd_Opt. No event separates DDR from the rest. */
#define LOCAL_OPT TOR_TIER("local", "memory of this socket", 0x00c826fe, TIER_ALWAYS)
#define REMOTE_OPT TOR_TIER("remote", "memory of other sockets", 0x00c8277e, TIER_ALWAYS)
#define ALL_OPT TOR_TIER("memory", "all memory of the only socket", 0x00c827fe, TIER_ALWAYS)

/* AMD: all cores, slices and threads; sampled latency over sampled requests. */
#define AMD_L3(event, umask) \
	(3ULL << 56 | 3ULL << 48 | 1ULL << 47 | 1ULL << 46 | (umask) << 8 | (event))
#define AMD_TIER(which, text, umask, condition)                        \
	.name = which, .what = text, .occupancy = AMD_L3(0xac, umask), \
	.inserts = AMD_L3(0xad, umask), .needs = condition
#define AMD_TIERS                                                                             \
	[0] = { AMD_TIER("near-dram", "DRAM of this NUMA node", 0x01ULL, TIER_ALWAYS) },      \
	[1] = { AMD_TIER("far-dram", "DRAM of other NUMA nodes", 0x02ULL, TIER_ALWAYS) },     \
	[2] = { AMD_TIER("near-ext", "CXL memory of this NUMA node", 0x10ULL, TIER_IF_CXL) }, \
	[3] = { AMD_TIER("far-ext", "CXL memory of other NUMA nodes", 0x20ULL, TIER_IF_CXL) }

/*
 * Registers, from arch/x86/events/intel/uncore_snbep.c and uncore_discovery.h of Linux 6.3; how
 * many boxes there are from cpucounters.cpp of intel/pcm.
 */
static const struct tier_layout skx_layout = {
	.ranges = { { 0, 0xe00, 0x10 } },
	.boxes = 28,
	.control = 1,
	.counter = 8,
	.filter0 = 5,
	.filter1 = 6,
	.filter1_initial = 0x3b,
	.reset = 0x3,
	.freeze = 0x100,
	.enable = 1 << 22,
	.boxes_msr = 0x702,
	.boxes_mask = 63,
};

static const struct tier_layout icx_layout = {
	.ranges = { { 0, 0xe00, 0xe }, { 18, 0xf0a, 0xe }, { 34, 0xb60, 0xe } },
	.boxes = 40,
	.control = 1,
	.counter = 8,
	.filter0 = 5,
	.reset = 0x3,
	.freeze = 0x100,
	.enable = 1 << 22,
	.boxes_msr = 0x702,
	.boxes_mask = 63,
};

/* SPR and EMR differ from GNR and SRF only in how the number of boxes is found. */
#define SPR_LAYOUT                                                                          \
	.ranges = { { 0, 0x2000, 0x10 } }, .boxes = TIER_BOXES, .control = 2, .counter = 8, \
	.filter0 = 0xe, .reset = 0x300, .freeze = 0x1

static const struct tier_layout spr_layout = { SPR_LAYOUT, .boxes_pci = 0x325b };
static const struct tier_layout gnr_layout = {
	SPR_LAYOUT,
	.boxes_msr = 0x3fed,
	.boxes_mask = 0x1ff,
};

/* At most six boxes; only the driver knows how many. */
static const struct tier_layout snr_layout = {
	.ranges = { { 0, 0x1c00, 0x10 } },
	.boxes = 6,
	.control = 1,
	.counter = 8,
	.filter0 = 5,
	.reset = 0x3,
	.freeze = 0x100,
	.enable = 1 << 22,
};

#define SKX_MODEL                                                                \
	.layout = &skx_layout, .clock = 0x00,                                    \
	.tiers = { { SKX_TIER("local", "memory of this socket", 0x40432) },      \
		   { SKX_TIER("remote", "memory of other sockets", 0x40431) } }, \
	.nr_tiers = 2

/* DDR and persistent memory, of this socket and of others. */
#define PMM_TIERS \
	.tiers = { { LOCAL_DDR }, { REMOTE_DDR }, { LOCAL_PMM }, { REMOTE_PMM } }, .nr_tiers = 4

/* DRd_Opt, of this socket and of others. */
#define OPT_TIERS .tiers = { { LOCAL_OPT }, { REMOTE_OPT } }, .nr_tiers = 2

#define ZEN_MODEL .kind = TIER_AMD_L3, .tiers = { AMD_TIERS }, .nr_tiers = 4

static const struct tier_model skx = {
	.name = "skx",
	.title = "Skylake-SP",
	SKX_MODEL,
};

static const struct tier_model clx = {
	.name = "clx",
	.title = "Cascade Lake-SP",
	SKX_MODEL,
};

static const struct tier_model cpx = {
	.name = "cpx",
	.title = "Cooper Lake",
	SKX_MODEL,
};

static const struct tier_model icx = {
	.name = "icx",
	.title = "Ice Lake-SP",
	.layout = &icx_layout,
	.clock = 0x00,
	PMM_TIERS,
};

static const struct tier_model spr = {
	.name = "spr",
	.title = "Sapphire Rapids",
	.layout = &spr_layout,
	.clock = 0x01,
	PMM_TIERS,
};

/* The only one whose public files have a filter for type-3 memory. */
static const struct tier_model emr = {
	.name = "emr",
	.title = "Emerald Rapids",
	.layout = &spr_layout,
	.clock = 0x01,
	.tiers = { { LOCAL_DDR }, { REMOTE_DDR }, { LOCAL_CXL }, { LOCAL_PMM }, { REMOTE_PMM } },
	.nr_tiers = 5,
};

static const struct tier_model gnr = {
	.name = "gnr",
	.title = "Granite Rapids",
	.layout = &gnr_layout,
	.dies = 3,
	.clock = 0x01,
	PMM_TIERS,
};

static const struct tier_model srf = {
	.name = "srf",
	.title = "Sierra Forest",
	.layout = &gnr_layout,
	.dies = 2,
	.clock = 0x01,
	.derived = true,
	OPT_TIERS,
};

/* No public table lists its registers: Linux discovers them from the hardware. */
static const struct tier_model cwf = {
	.name = "cwf",
	.title = "Clearwater Forest",
	.dies = 3,
	.clock = 0x01,
	.derived = true,
	OPT_TIERS,
};

static const struct tier_model snr = {
	.name = "snr",
	.title = "Snow Ridge",
	.layout = &snr_layout,
	.clock = 0x00,
	.tiers = { { ALL_OPT } },
	.nr_tiers = 1,
};

static const struct tier_model grr = {
	.name = "grr",
	.title = "Grand Ridge",
	.layout = &gnr_layout,
	.clock = 0x01,
	.tiers = { { ALL_OPT } },
	.nr_tiers = 1,
};

static const struct tier_model zen4 = {
	.name = "zen4",
	.title = "AMD Zen 4",
	ZEN_MODEL,
};

static const struct tier_model zen5 = {
	.name = "zen5",
	.title = "AMD Zen 5",
	.in_ns = true,
	ZEN_MODEL,
};

static const struct tier_model zen6 = {
	.name = "zen6",
	.title = "AMD Zen 6",
	.in_ns = true,
	ZEN_MODEL,
};

const struct tier_model *const tier_models[] = { &skx, &clx, &cpx, &icx,  &spr,	 &emr,	&gnr, &srf,
						 &cwf, &snr, &grr, &zen4, &zen5, &zen6, NULL };

/*
 * mapfile.csv of intel/perfmon, which has Cooper Lake under Cascade Lake (its stepping from
 * cpucounters.h of intel/pcm), and arch/x86/kernel/cpu/amd.c of Linux.
 */
static const struct {
	const struct tier_model *model;
	const char *vendor;
	unsigned int family, low, high; /* models */
	unsigned int first, last; /* steppings */
} cpus[] = {
	{ &skx, "GenuineIntel", 6, 0x55, 0x55, 0, 4 },
	{ &clx, "GenuineIntel", 6, 0x55, 0x55, 5, 9 },
	{ &cpx, "GenuineIntel", 6, 0x55, 0x55, 10, 15 },
	{ &icx, "GenuineIntel", 6, 0x6a, 0x6a, 0, UINT_MAX },
	{ &icx, "GenuineIntel", 6, 0x6c, 0x6c, 0, UINT_MAX },
	{ &spr, "GenuineIntel", 6, 0x8f, 0x8f, 0, UINT_MAX },
	{ &emr, "GenuineIntel", 6, 0xcf, 0xcf, 0, UINT_MAX },
	{ &gnr, "GenuineIntel", 6, 0xad, 0xae, 0, UINT_MAX },
	{ &srf, "GenuineIntel", 6, 0xaf, 0xaf, 0, UINT_MAX },
	{ &cwf, "GenuineIntel", 6, 0xdd, 0xdd, 0, UINT_MAX },
	{ &snr, "GenuineIntel", 6, 0x86, 0x86, 0, UINT_MAX },
	{ &grr, "GenuineIntel", 6, 0xb6, 0xb6, 0, UINT_MAX },
	{ &zen4, "AuthenticAMD", 0x19, 0x10, 0x1f, 0, UINT_MAX },
	{ &zen4, "AuthenticAMD", 0x19, 0x60, 0xaf, 0, UINT_MAX },
	{ &zen5, "AuthenticAMD", 0x1a, 0x00, 0x2f, 0, UINT_MAX },
	{ &zen5, "AuthenticAMD", 0x1a, 0x40, 0x4f, 0, UINT_MAX },
	{ &zen5, "AuthenticAMD", 0x1a, 0x60, 0x7f, 0, UINT_MAX },
	{ &zen6, "AuthenticAMD", 0x1a, 0x50, 0x5f, 0, UINT_MAX },
	{ &zen6, "AuthenticAMD", 0x1a, 0x80, 0xaf, 0, UINT_MAX },
	{ &zen6, "AuthenticAMD", 0x1a, 0xc0, 0xcf, 0, UINT_MAX },
};

const struct tier_model *tier_model__find(const char *name)
{
	for (size_t i = 0; tier_models[i]; i++) {
		if (!strcmp(name, tier_models[i]->name))
			return tier_models[i];
	}
	return NULL;
}

const struct tier_model *tier_model__of(const struct tier_cpu *cpu)
{
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		if (!strcmp(cpu->vendor, cpus[i].vendor) && cpu->family == cpus[i].family &&
		    cpu->model >= cpus[i].low && cpu->model <= cpus[i].high &&
		    cpu->stepping >= cpus[i].first && cpu->stepping <= cpus[i].last)
			return cpus[i].model;
	}
	return NULL;
}

/* The value in a line as "vendor_id\t: GenuineIntel"; NULL: the line has another name. */
static char *value_of(char *line, const char *name)
{
	char *at = line + strlen(name);

	if (strncmp(line, name, strlen(name)))
		return NULL;
	at += strspn(at, "\t ");
	if (*at != ':')
		return NULL;
	at += 1 + strspn(at + 1, " ");
	at[strcspn(at, "\n")] = '\0';
	return at;
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len) {
		if ((at == text || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	}
	return false;
}

/* Which fields were seen. */
enum { SEEN_VENDOR = 1, SEEN_FAMILY = 2, SEEN_MODEL = 4, SEEN_STEPPING = 8, SEEN_ALL = 15 };

static unsigned int take_line(struct tier_cpu *cpu, char *line)
{
	const char *value;

	if ((value = value_of(line, "vendor_id"))) {
		snprintf(cpu->vendor, sizeof(cpu->vendor), "%s", value);
		return SEEN_VENDOR;
	}
	if ((value = value_of(line, "model name")))
		snprintf(cpu->name, sizeof(cpu->name), "%s", value);
	else if ((value = value_of(line, "flags")))
		cpu->hypervisor = has_word(value, "hypervisor");
	else if ((value = value_of(line, "cpu family")))
		return cpu->family = (unsigned int)strtoul(value, NULL, 10), SEEN_FAMILY;
	else if ((value = value_of(line, "model")))
		return cpu->model = (unsigned int)strtoul(value, NULL, 10), SEEN_MODEL;
	else if ((value = value_of(line, "stepping")))
		return cpu->stepping = (unsigned int)strtoul(value, NULL, 10), SEEN_STEPPING;
	return 0;
}

int tier_cpu__read(struct tier_cpu *cpu, const char *root)
{
	char path[PATH_MAX], *line = NULL;
	unsigned int seen = 0;
	size_t size = 0;
	FILE *stream;

	memset(cpu, 0, sizeof(*cpu));
	if (snprintf(path, sizeof(path), "%s/proc/cpuinfo", root) >= PATH_MAX)
		return -ENAMETOOLONG;
	stream = fopen(path, "re");
	if (!stream)
		return -errno;
	/* An empty line ends each processor. */
	while (getline(&line, &size, stream) > 0 && line[0] != '\n')
		seen |= take_line(cpu, line);
	free(line);
	fclose(stream);
	return seen == SEEN_ALL ? 0 : -EUCLEAN;
}

uint32_t tier_layout__box(const struct tier_layout *layout, unsigned int n)
{
	const struct tier_range *range = &layout->ranges[0];

	for (unsigned int i = 1; i < 3 && layout->ranges[i].base; i++) {
		if (n >= layout->ranges[i].first)
			range = &layout->ranges[i];
	}
	return range->base + (n - range->first) * range->stride;
}

uint64_t tier_layout__control(const struct tier_layout *layout, uint64_t config)
{
	return config | layout->enable;
}

bool tier_layout__counts(const struct tier_layout *layout, uint64_t box, uint64_t control)
{
	if (box & layout->freeze)
		return false;
	return layout->enable ? control & layout->enable : control != 0;
}
