// SPDX-License-Identifier: BSD-2-Clause
#include "why_candidates.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

int why_candidates__add(struct why_candidates *candidates, const struct why_event *event)
{
	struct why_event *least = candidates->events;

	if (candidates->nr < WHY_CANDIDATES)
		return vec__append(&candidates->events, &candidates->nr, event, sizeof(*event));
	for (size_t i = 1; i < candidates->nr; i++)
		if (candidates->events[i].ns < least->ns)
			least = &candidates->events[i];
	if (event->ns > least->ns)
		*least = *event;
	return 0;
}

static int slowest_first(const void *left, const void *right)
{
	const struct why_event *a = left, *b = right;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

void why_candidates__sort(struct why_candidates *candidates)
{
	if (candidates->nr)
		qsort(candidates->events, candidates->nr, sizeof(*candidates->events),
		      slowest_first);
}

int why_candidates__pairs(const struct why_event *event,
			  int (*each)(void *context, const struct why_pair *pair), void *context)
{
	__u64 left[WHY_PARTS];
	struct why_pair pair;
	int err = 0;

	memcpy(left, event->part_ns, sizeof(left));
	for (unsigned int i = 0; !err && i < WHY_CULPRITS; i++) {
		const struct why_culprit *culprit = &event->culprits[i];

		if (!culprit->ns || culprit->part >= WHY_PARTS || culprit->ns > left[culprit->part])
			continue;
		left[culprit->part] -= culprit->ns;
		pair = (struct why_pair){ .part = culprit->part,
					  .victim = event->victim,
					  .culprit = culprit->who,
					  .amount = { .ns = culprit->ns,
						      .count = 1,
						      .read_bytes = culprit->read_bytes,
						      .written_bytes = culprit->written_bytes } };
		err = each(context, &pair);
	}
	for (unsigned int part = 0; !err && part < WHY_PARTS; part++) {
		pair = (struct why_pair){ .part = part,
					  .victim = event->victim,
					  .amount = { .ns = left[part], .count = 1 } };
		if (left[part])
			err = each(context, &pair);
	}
	return err;
}

void why_candidates__clear(struct why_candidates *candidates)
{
	free(candidates->events);
	*candidates = (struct why_candidates){ 0 };
}
