/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where each generation has the registers of its CHAs, and what their bits mean.
 *
 * Written independently of tierlat's tables, from the sources of Intel, Linux and PCM, so that each
 * of the two reveals mistakes in the other: share nothing with tierlat.
 */
#ifndef LATSCOPE_TESTS_MSRFS_MAP_H
#define LATSCOPE_TESTS_MSRFS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define MAP_COUNTERS 4 /* of a CHA */
#define MAP_FILTERS 2
#define MAP_BOXES 128 /* more than any generation has */

enum map_part {
	MAP_BOX, /* the box's own control: reset and freeze */
	MAP_STATUS,
	MAP_CONTROL, /* of counter `index` */
	MAP_COUNTER,
	MAP_FILTER,
	MAP_GLOBAL, /* freezes all boxes of the socket */
	MAP_CLOCK_CONTROL, /* of the counter of uncore clocks that is no CHA's */
	MAP_CLOCK,
	MAP_COUNT, /* how many CHAs the socket has */
	MAP_TSC,
	MAP_NONE, /* no register, or none that is emulated */
};

struct map_place {
	enum map_part part;
	unsigned int box, index;
};

struct map {
	const char *name;
	unsigned int most; /* boxes */
	unsigned int control, filter, filters, status; /* from the box's control register on */

	/* In the box's control and in a counter's; other bits than ..._bits may not be set. */
	uint64_t reset_controls, reset_counters, freeze, box_bits;
	uint64_t enable; /* 0: a counter counts without */
	uint64_t control_bits;
	uint64_t clock_event;
	bool old_filter; /* opcode and target in filter 1, rather than in each control */

	unsigned int global, clock_control, clock, count;
	uint64_t global_freeze, global_bits, count_bits;
	int (*find)(uint64_t reg, unsigned int *offset); /* the box's number, or -1 */
	uint64_t (*base)(unsigned int box);
};

/* NULL: no generation of that name */
const struct map *map__named(const char *name);

struct map_place map__find(const struct map *map, unsigned int boxes, uint64_t reg);
uint64_t map__register(const struct map *map, struct map_place place);

#endif
