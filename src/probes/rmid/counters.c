// SPDX-License-Identifier: BSD-2-Clause
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

const struct counters_kind counters_kinds[COUNTERS_KINDS] = {
	{ "cycles", "cycles", "CPU cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", "instructions", "instructions retired", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_INSTRUCTIONS },
	{ "llc-misses", "llc_misses", "misses of the last-level cache", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_MISSES },
	{ "llc-references", "llc_references", "references to the last-level cache",
	  PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "branch-misses", "branch_misses", "branches mispredicted", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_MISSES },
	{ "page-faults", "page_faults", "page faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_PAGE_FAULTS },
};

static int find_kind(const char *name, size_t len)
{
	for (unsigned int i = 0; i < COUNTERS_KINDS; i++)
		if (strlen(counters_kinds[i].name) == len &&
		    !memcmp(counters_kinds[i].name, name, len))
			return (int)i;
	return -EINVAL;
}

int counters__parse(const char *list, uint32_t *mask)
{
	uint32_t wanted = 0;
	size_t len;
	int kind;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		kind = find_kind(list, len);
		if (kind < 0)
			return kind;
		wanted |= 1U << kind;
		if (!list[len])
			break;
	}
	if (__builtin_popcount(wanted) > RMID_COUNTERS)
		return -E2BIG;
	*mask = wanted;
	return 0;
}
