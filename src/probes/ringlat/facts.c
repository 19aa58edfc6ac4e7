// SPDX-License-Identifier: BSD-2-Clause
/* What CPUID says about the environment. */
#include "where.h"

#include <cpuid.h>
#include <string.h>

#include "cycles.h"
#include "tsc.h"

#define CPUID_TRIES 101

static uint64_t cpuid_cycles(void)
{
	uint64_t taken[CPUID_TRIES];
	unsigned int a, b, c, d;

	for (int i = 0; i < CPUID_TRIES; i++) {
		uint64_t begin = tsc__begin();

		__cpuid(0, a, b, c, d);
		taken[i] = tsc__end() - begin;
	}
	return ring__median(taken, CPUID_TRIES);
}

void ring_facts__read(struct ring_facts *facts)
{
	unsigned int a, b, c, d;

	memset(facts, 0, sizeof(*facts));
	__cpuid(1, a, b, c, d);
	facts->hypervisor = c >> 31;
	if (facts->hypervisor) {
		__cpuid(0x40000000, a, b, c, d);
		memcpy(facts->signature, &b, 4);
		memcpy(facts->signature + 4, &c, 4);
		memcpy(facts->signature + 8, &d, 4);
	}
	facts->cpuid_cycles = cpuid_cycles();
}
