// SPDX-License-Identifier: BSD-2-Clause
#include "counts.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const names[LAT_COUNTS] = {
	[LAT_SEEN] = "seen",
	[LAT_FILTERED] = "filtered",
	[LAT_MISSED_START] = "missed_start",
	[LAT_UNMATCHED] = "unmatched",
	[LAT_MAP_FULL] = "map_full",
	[LAT_NEGATIVE] = "negative",
	[LAT_EXCLUDED] = "excluded",
	[LAT_CONTINUED] = "continued",
	[LAT_ABANDONED] = "abandoned",
	[LAT_JOINED] = "joined",
	[LAT_REQUEUED] = "requeued",
	[LAT_ERRORS] = "errors",
	[LAT_FALLBACK] = "fallback",
	[LAT_FALLBACK_NS] = "fallback_ns",
	[LAT_OTHER_KEY] = "other_key",
	[LAT_NOT_KEPT] = "not_kept",
	[LAT_CHECKED] = "checked",
	[LAT_SKEW_NS] = "skew_ns",
	[LAT_PARTIAL] = "partial",
	[LAT_OTHER_MOST_NS] = "other_most_ns",
	[LAT_FILTERED_NS] = "filtered_ns",
	[LAT_MISSED_START_NS] = "missed_start_ns",
	[LAT_UNMATCHED_NS] = "unmatched_ns",
	[LAT_UNTIMED] = "untimed",
	[LAT_UNSTAMPED] = "unstamped",
	[LAT_IDLE] = "idle",
	[LAT_KERNEL_NS] = "kernel_ns",
	[LAT_EARLY_NS] = "early_ns",
	[LAT_ERRORS_TIMEOUT] = "errors_timeout",
	[LAT_ERRORS_IO] = "errors_io",
	[LAT_ERRORS_MEDIUM] = "errors_medium",
};

const char *counts__name(unsigned int count)
{
	return count < LAT_COUNTS ? names[count] : NULL;
}

int counts__find(const char *name)
{
	for (int i = 0; i < LAT_COUNTS; i++) {
		if (names[i] && !strcmp(names[i], name))
			return i;
	}
	return -ENOENT;
}

bool counts__is_term(unsigned int count)
{
	return count > LAT_SEEN && count < LAT_TERMS;
}
