// SPDX-License-Identifier: BSD-2-Clause
#include "stack_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <core/sanitize.h>

void stack_name__of(const struct frames *frames, uint64_t address, char out[FRAME_TEXT])
{
	const struct frame *frame = frames__find(frames, 0, address);
	char *offset;

	if (!frame || !*frame->name) {
		snprintf(out, FRAME_TEXT, "0x%" PRIx64, address);
		return;
	}
	sanitize__text(out, FRAME_TEXT, frame->name);
	offset = strrchr(out, '+');
	if (offset && offset != out && !strncmp(offset, "+0x", 3))
		*offset = '\0';
}

void stack_names__of(struct stack_names *names, const struct frames *frames, const char *stack)
{
	uint64_t address;

	names->nr = 0;
	frames__skip_tracing(frames, &stack);
	while (names->nr < STACK_NAMES && frames__next(&stack, &address)) {
		struct stack_name *to = &names->frames[names->nr++];

		to->address = address;
		stack_name__of(frames, address, to->name);
	}
}
