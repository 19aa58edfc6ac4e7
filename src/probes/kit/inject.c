// SPDX-License-Identifier: BSD-2-Clause
#include "inject.h"

#include <string.h>

enum lat_inject inject__fault;

enum lat_inject inject__find(const char *name)
{
	static const char *const names[LAT_INJECTS] = {
		[LAT_INJECT_DROP] = "drop",	  [LAT_INJECT_LEAK] = "leak",
		[LAT_INJECT_DOUBLE] = "double",	  [LAT_INJECT_SHIFT] = "shift",
		[LAT_INJECT_UNIT] = "unit",	  [LAT_INJECT_STALE] = "stale",
		[LAT_INJECT_LATE] = "late",	  [LAT_INJECT_CPU] = "cpu",
		[LAT_INJECT_TURN] = "turn",	  [LAT_INJECT_IDLE] = "idle",
		[LAT_INJECT_LIMIT] = "limit",	  [LAT_INJECT_WAKER] = "waker",
		[LAT_INJECT_RAISED] = "raised",	  [LAT_INJECT_ALONE] = "alone",
		[LAT_INJECT_JOURNAL] = "journal",
	};

	for (int fault = LAT_INJECT_NONE + 1; fault < LAT_INJECTS; fault++)
		if (!strcmp(names[fault], name))
			return fault;
	return LAT_INJECT_NONE;
}
