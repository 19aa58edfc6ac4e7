// SPDX-License-Identifier: BSD-2-Clause
#include "window.h"

#include <time.h>

uint64_t window__unix_ns(const struct run *run)
{
	struct tm tm = { 0 };
	time_t at;

	if (run->real_offset_ns)
		return run->start_mono_ns + run->real_offset_ns;
	if (!strptime(run->start_utc, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return 0;
	at = timegm(&tm);
	return at > 0 ? (uint64_t)at * 1000000000 : 0;
}
