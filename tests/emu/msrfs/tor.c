// SPDX-License-Identifier: BSD-2-Clause
#include "tor.h"

#include <string.h>

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

#define BIT(n) (1ULL << (n))

/* Skylake does not distinguish a core's reads from its prefetches into L2. */
static const struct {
	const char *name;
	unsigned int old, new; /* Skylake's and Cascade Lake's, and all later ones' */
} opcodes[] = {
	{ "drd", 0x202, 0x102 },	  { "rfo", 0x200, 0x100 },
	{ "crd", 0x201, 0x101 },	  { "drd_pref", 0x202, 0x112 },
	{ "rfo_pref", 0x200, 0x110 },	  { "drd_opt", 0x202, 0x104 },
	{ "drd_opt_pref", 0x202, 0x114 }, { "llcprefdata", 0x25a, 0x19a },
	{ "llcprefrfo", 0x258, 0x198 },
};

static const char *const memories[] = {
	[TOR_DDR] = "ddr", [TOR_PMM] = "pmm", [TOR_CXL] = "cxl", [TOR_MMIO] = "mmio"
};

int tor__opcode(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (!strcmp(opcodes[i].name, name))
			return i;
	return -1;
}

int tor__memory(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(memories); i++)
		if (!strcmp(memories[i], name))
			return i;
	return -1;
}

/* umask 0x01: requests of cores, 0x10 hits, 0x20 misses. Filter 1: of which target and opcode. */
static bool old_counts(uint64_t umask, uint64_t filter, const struct tor_request *request)
{
	unsigned int opcode = opcodes[request->opcode].old;

	if (!(umask & 0x01) || !(umask & (request->hit ? 0x10 : 0x20)))
		return false;
	if (!(filter & (request->remote ? BIT(0) : BIT(1))))
		return false;
	if (!(filter & BIT(5))) /* not found in near memory, as without such a thing */
		return false;
	return filter & BIT(3) || opcode == (filter >> 9 & 0x3ff) ||
	       opcode == (filter >> 19 & 0x3ff);
}

/*
 * A request to CXL memory is counted if CXL expanders are selected, or if no kind of memory is
 * excluded. So a counter of local DDR does not see it, but one of all local memory does.
 */
static bool counts_memory(uint64_t mask, enum tor_memory memory)
{
	static const uint64_t bits[] = {
		[TOR_DDR] = BIT(2), [TOR_PMM] = BIT(3), [TOR_CXL] = BIT(29), [TOR_MMIO] = BIT(6)
	};
	const uint64_t any = BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6);

	return mask & bits[memory] || (mask & any) == any;
}

static bool new_counts(uint64_t umask, uint64_t mask, const struct tor_request *request)
{
	if (!(umask & 0x01) || !(mask & (request->hit ? BIT(0) : BIT(1))))
		return false;
	if (!(mask & (request->remote ? BIT(8) : BIT(7))) || !counts_memory(mask, request->memory))
		return false;
	if (!(mask & BIT(9))) /* opcodes do not matter */
		return true;
	/* As it was before the CHA changed it, and not from near memory. */
	return mask & BIT(10) && mask & BIT(23) &&
	       (mask >> 11 & 0x7ff) == opcodes[request->opcode].new;
}

bool tor__counts(const struct map *map, uint64_t control, const uint64_t filter[MAP_FILTERS],
		 const struct tor_request *request)
{
	uint64_t umask = control >> 8 & 0xff;

	if (map->old_filter)
		return old_counts(umask, filter[1], request);
	return new_counts(umask, control >> 32, request);
}
