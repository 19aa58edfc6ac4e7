// SPDX-License-Identifier: BSD-2-Clause
#include "map.h"

#include <string.h>

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

#define BITS(high, low) ((~0ULL >> (63 - (high))) & (~0ULL << (low)))
#define BIT(n) (1ULL << (n))

#define TSC 0x10
#define COUNTER 8 /* from the box's control register on, in every generation */

static int within(uint64_t reg, uint64_t start, unsigned int stride, unsigned int boxes,
		  unsigned int *offset)
{
	if (reg < start || reg >= start + (uint64_t)stride * boxes)
		return -1;
	*offset = (reg - start) % stride;
	return (reg - start) / stride;
}

static int skx_find(uint64_t reg, unsigned int *offset)
{
	return within(reg, 0xe00, 0x10, 28, offset);
}

static uint64_t skx_base(unsigned int box)
{
	return 0xe00 + 0x10 * box;
}

/* Ice Lake's CHAs are in three ranges; a slot, 0xefc, is left out between the first two. */
static const struct {
	uint64_t start;
	unsigned int first, boxes;
} icx_stretches[] = { { 0xe00, 0, 18 }, { 0xf0a, 18, 16 }, { 0xb60, 34, 8 } };

static int icx_find(uint64_t reg, unsigned int *offset)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(icx_stretches); i++) {
		int box = within(reg, icx_stretches[i].start, 0xe, icx_stretches[i].boxes, offset);

		if (box >= 0)
			return icx_stretches[i].first + box;
	}
	return -1;
}

static uint64_t icx_base(unsigned int box)
{
	unsigned int i = box < 18 ? 0 : box < 34 ? 1 : 2;

	return icx_stretches[i].start + 0xeULL * (box - icx_stretches[i].first);
}

static int snr_find(uint64_t reg, unsigned int *offset)
{
	return within(reg, 0x1c00, 0x10, 6, offset);
}

static uint64_t snr_base(unsigned int box)
{
	return 0x1c00 + 0x10 * box;
}

static int spr_find(uint64_t reg, unsigned int *offset)
{
	return within(reg, 0x2000, 0x10, MAP_BOXES, offset);
}

static uint64_t spr_base(unsigned int box)
{
	return 0x2000 + 0x10 * box;
}

/* clang-format off */
#define LAKE_BOX \
	.reset_controls = BIT(0), .reset_counters = BIT(1), .freeze = BIT(8), \
	.box_bits = BIT(0) | BIT(1) | BIT(8) | BIT(16), \
	.control = 1, .filter = 5, .status = 7, .enable = BIT(22), .clock_event = 0x00

#define LAKE_UBOX \
	.global = 0x700, .global_freeze = BIT(63), .global_bits = BITS(63, 0), \
	.clock_control = 0x703, .clock = 0x704, .count = 0x702, .count_bits = 63

#define SKYLAKE \
	LAKE_BOX, LAKE_UBOX, .most = 28, .find = skx_find, .base = skx_base, .filters = 2, \
	.old_filter = true, .control_bits = BITS(15, 0) | BITS(20, 17) | BITS(31, 22)

/* Without an enable bit: a counter whose event is not 0 counts. Bit 16 is that of thread ids. */
#define RAPIDS \
	.reset_controls = BIT(8), .reset_counters = BIT(9), .freeze = BIT(0), \
	.box_bits = BIT(0) | BIT(8) | BIT(9), \
	.control = 2, .filter = 0xe, .filters = 1, .status = 1, .clock_event = 0x01, \
	.control_bits = BITS(18, 0) | BIT(20) | BITS(63, 23), \
	.most = MAP_BOXES, .find = spr_find, .base = spr_base

#define SAPPHIRE_UBOX \
	.global = 0x2ff0, .global_freeze = BIT(0), .global_bits = BIT(0), \
	.clock_control = 0x2fde, .clock = 0x2fdf

#define GRANITE_UBOX \
	.clock_control = 0x3ffe, .clock = 0x3ffd, .count = 0x3fed, .count_bits = 0x1ff

static const struct map maps[] = {
	{ "skx", SKYLAKE },
	{ "clx", SKYLAKE },
	{ "cpx", SKYLAKE },
	{ "icx", LAKE_BOX, LAKE_UBOX, .most = 42, .find = icx_find, .base = icx_base, .filters = 1,
	  .control_bits = BITS(15, 0) | BITS(20, 17) | BITS(57, 22) },
	{ "spr", RAPIDS, SAPPHIRE_UBOX },
	{ "emr", RAPIDS, SAPPHIRE_UBOX },
	{ "gnr", RAPIDS, GRANITE_UBOX },
	{ "srf", RAPIDS, GRANITE_UBOX },
	{ "grr", RAPIDS, GRANITE_UBOX },
	{ "snr", LAKE_BOX, LAKE_UBOX, .most = 6, .find = snr_find, .base = snr_base, .filters = 1,
	  .control_bits = BITS(15, 0) | BITS(20, 17) | BITS(57, 22) },
};
/* clang-format on */

const struct map *map__named(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(maps); i++)
		if (!strcmp(maps[i].name, name))
			return &maps[i];
	return NULL;
}

static struct map_place within_box(const struct map *map, unsigned int box, unsigned int offset)
{
	struct map_place place = { MAP_NONE, box, 0 };

	if (offset == 0) {
		place.part = MAP_BOX;
	} else if (offset == map->status) {
		place.part = MAP_STATUS;
	} else if (offset >= map->control && offset < map->control + MAP_COUNTERS) {
		place.part = MAP_CONTROL;
		place.index = offset - map->control;
	} else if (offset >= COUNTER && offset < COUNTER + MAP_COUNTERS) {
		place.part = MAP_COUNTER;
		place.index = offset - COUNTER;
	} else if (offset >= map->filter && offset < map->filter + map->filters) {
		place.part = MAP_FILTER;
		place.index = offset - map->filter;
	}
	return place;
}

struct map_place map__find(const struct map *map, unsigned int boxes, uint64_t reg)
{
	unsigned int offset = 0;
	int box = map->find(reg, &offset);

	if (box >= 0 && (unsigned int)box < boxes)
		return within_box(map, box, offset);
	if (reg == TSC)
		return (struct map_place){ MAP_TSC, 0, 0 };
	if (reg && reg == map->global)
		return (struct map_place){ MAP_GLOBAL, 0, 0 };
	if (reg == map->clock_control)
		return (struct map_place){ MAP_CLOCK_CONTROL, 0, 0 };
	if (reg == map->clock)
		return (struct map_place){ MAP_CLOCK, 0, 0 };
	if (reg && reg == map->count)
		return (struct map_place){ MAP_COUNT, 0, 0 };
	return (struct map_place){ MAP_NONE, 0, 0 };
}

uint64_t map__register(const struct map *map, struct map_place place)
{
	uint64_t base = map->base(place.box);

	switch (place.part) {
	case MAP_STATUS:
		return base + map->status;
	case MAP_CONTROL:
		return base + map->control + place.index;
	case MAP_COUNTER:
		return base + COUNTER + place.index;
	case MAP_FILTER:
		return base + map->filter + place.index;
	default:
		return base;
	}
}
