// SPDX-License-Identifier: BSD-2-Clause
#include "frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

static void free_texts(const struct frame *frame)
{
	free((char *)frame->name);
	free((char *)frame->place);
}

int frames__add(struct frames *frames, const struct frame *frame)
{
	struct frame copy = *frame;

	copy.name = strndup(frame->name, FRAME_TEXT / 2 - 1);
	copy.place = strndup(frame->place, FRAME_TEXT / 2 - 2);
	if (copy.name && copy.place &&
	    !vec__append(&frames->frames, &frames->nr, &copy, sizeof(copy)))
		return 0;
	free_texts(&copy);
	return -ENOMEM;
}

static int by_address(const void *left, const void *right)
{
	const struct frame *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Better: the one with a name. */
static void merge(struct frame *kept, struct frame *other)
{
	kept->truncated |= other->truncated;
	if (!*kept->name && *other->name) {
		const struct frame swapped = *kept;

		kept->name = other->name;
		kept->place = other->place;
		other->name = swapped.name;
		other->place = swapped.place;
	}
	free_texts(other);
}

void frames__sort(struct frames *frames)
{
	size_t kept = 0;

	if (!frames->nr)
		return;
	qsort(frames->frames, frames->nr, sizeof(*frames->frames), by_address);
	for (size_t i = 1; i < frames->nr; i++) {
		if (!by_address(&frames->frames[kept], &frames->frames[i]))
			merge(&frames->frames[kept], &frames->frames[i]);
		else
			frames->frames[++kept] = frames->frames[i];
	}
	frames->nr = kept + 1;
}

const struct frame *frames__find(const struct frames *frames, uint64_t pid, uint64_t address)
{
	const struct frame wanted = { .pid = pid, .address = address };

	if (!frames->nr)
		return NULL;
	return bsearch(&wanted, frames->frames, frames->nr, sizeof(wanted), by_address);
}

void frames__clear(struct frames *frames)
{
	for (size_t i = 0; i < frames->nr; i++)
		free_texts(&frames->frames[i]);
	free(frames->frames);
	frames->frames = NULL;
	frames->nr = 0;
}

bool frames__next(const char **stack, uint64_t *address)
{
	char *end;

	*address = strtoull(*stack, &end, 16);
	if (end == *stack)
		return false;
	*stack = end;
	return true;
}

static bool is_tracing(const struct frame *frame)
{
	static const char *const functions[] = {
		"bpf_prog_",	   "bpf_trace_run",	    "__traceiter_",
		"bpf_trampoline_", "__bpf_trace_",	    "bpf_get_",
		"__bpf_get_",	   "bpf_perf_event_output", "bpf_overflow_handler",
	};

	for (size_t i = 0; frame && i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strncmp(frame->name, functions[i], strlen(functions[i])))
			return true;
	return false;
}

void frames__skip_tracing(const struct frames *frames, const char **stack)
{
	const struct frame *frame;
	const char *at = *stack;
	uint64_t address;

	while (frames__next(&at, &address)) {
		frame = frames__find(frames, 0, address);
		if (is_tracing(frame))
			*stack = at;
		else if (frame && *frame->name) /* programs may have no names */
			break;
	}
}

const char *frame__text(const struct frame *frame, uint64_t address, bool brief,
			char out[FRAME_TEXT])
{
	const char *name = frame ? frame->name : "", *place = frame ? frame->place : "";
	int length = brief ? (int)strcspn(place, " ") : (int)strlen(place);

	if (!*name && !strchr(place, '+')) /* not in a file */
		snprintf(out, FRAME_TEXT, "0x%" PRIx64 "%s%s", address, *place ? " " : "", place);
	else if (brief && *name)
		snprintf(out, FRAME_TEXT, "%s", name);
	else
		snprintf(out, FRAME_TEXT, "%s%s%.*s", name, *name ? " " : "", length, place);
	return out;
}

struct frames_walk frames__walk(const struct frames *frames, uint64_t pid, const char *stack,
				unsigned int most)
{
	if (!pid)
		frames__skip_tracing(frames, &stack);
	return (struct frames_walk){ .frames = frames, .pid = pid, .stack = stack, .most = most };
}

const char *frames__walk_next(struct frames_walk *walk, char out[FRAME_TEXT])
{
	uint64_t address;
	bool more;

	if (walk->ended)
		return NULL;
	more = frames__next(&walk->stack, &address);
	if (more && walk->most) {
		walk->most--;
		walk->last = frames__find(walk->frames, walk->pid, address);
		return frame__text(walk->last, address, true, out);
	}
	walk->ended = true;
	if (more)
		return "...";
	return walk->last && walk->last->truncated ? "(truncated: no frame pointer)" : NULL;
}
