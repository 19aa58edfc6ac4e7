// SPDX-License-Identifier: BSD-2-Clause
#include "cpu_list.h"

#include <string.h>

#include "number_list.h"

static int add_cpus(void *to, unsigned long low, unsigned long high)
{
	uint64_t *mask = to;

	for (; low <= high; low++)
		mask[low / 64] |= 1ULL << low % 64;
	return 0;
}

int cpu_list__parse(const char *text, uint64_t mask[LAT_CPUS / 64])
{
	memset(mask, 0, LAT_CPUS / 8);
	return number_list__each(text, LAT_CPUS - 1, add_cpus, mask);
}

unsigned int cpu_list__next(const uint64_t mask[LAT_CPUS / 64], unsigned int cpu)
{
	while (cpu < LAT_CPUS && !(mask[cpu / 64] >> cpu % 64 & 1))
		cpu++;
	return cpu;
}
