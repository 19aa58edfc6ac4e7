/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TOR (table of requests) of a CHA counts requests. A request has an opcode, a target and an
 * outcome; the control of a counter selects requests.
 */
#ifndef LATSCOPE_TESTS_MSRFS_TOR_H
#define LATSCOPE_TESTS_MSRFS_TOR_H

#include "map.h"

#define TOR_OCCUPANCY 0x36 /* counts on counter 0 only */
#define TOR_INSERTS 0x35

enum tor_memory { TOR_DDR, TOR_PMM, TOR_CXL, TOR_MMIO };

struct tor_request {
	unsigned int opcode; /* index of a name */
	enum tor_memory memory;
	bool remote, hit;
};

/* "drd", "rfo" and so on; -1: no such name */
int tor__opcode(const char *name);
int tor__memory(const char *name);

/* Does a counter with this control, in a box with these filters, count this request? */
bool tor__counts(const struct map *map, uint64_t control, const uint64_t filter[MAP_FILTERS],
		 const struct tor_request *request);

#endif
