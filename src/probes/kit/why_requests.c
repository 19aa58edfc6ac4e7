// SPDX-License-Identifier: BSD-2-Clause
#include "why_requests.h"

#include <stdio.h>

#include <core/units.h>

static struct why_served kept[WHY_REQUESTS_KEPT]; /* number n is in kept[n % KEPT] */
static uint64_t nr;

void why_requests__add(const struct why_served *request)
{
	kept[nr++ % WHY_REQUESTS_KEPT] = *request;
}

const struct why_served *why_requests__find(uint32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t most = nr < WHY_REQUESTS_KEPT ? nr : WHY_REQUESTS_KEPT;

	for (uint64_t i = 0; i < most; i++) {
		const struct why_served *request = &kept[i];
		uint64_t from = request->begin_ns > from_ns ? request->begin_ns : from_ns;
		uint64_t to = request->end_ns < to_ns ? request->end_ns : to_ns;

		if (request->tid == tid && to > from && 2 * (to - from) > to_ns - from_ns)
			return request;
	}
	return NULL;
}

const char *why_requests__text(const struct why_served *request, uint64_t wait_ns,
			       char out[WHY_REQUESTS_TEXT])
{
	uint64_t ns = request->ns < wait_ns ? request->ns : wait_ns;
	char action[RUN_NAME + 32], time[UNITS_TEXT];

	if (!request->part || !request->part->disk_action || 2 * ns <= wait_ns) {
		snprintf(out, WHY_REQUESTS_TEXT, "%s", request->disk);
		return out;
	}
	/* flawfinder: ignore: a constant of the probe, with one %s */
	snprintf(action, sizeof(action), request->part->disk_action, request->culprit);
	snprintf(out, WHY_REQUESTS_TEXT, "%s: %s %s", request->disk, action,
		 units__ns(time, (double)ns));
	return out;
}
