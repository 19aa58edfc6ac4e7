/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for the addresses in the stacks of slow samples. */
#ifndef LATSCOPE_CORE_FRAMES_H
#define LATSCOPE_CORE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame {
	uint64_t pid; /* of the process that has this address; 0: the kernel */
	uint64_t address;
	bool truncated; /* a stack ends here, although this function has a caller */
	const char *name; /* "read+0x1d"; empty: unknown */
	const char *place; /* "libc.so.6+0x2a1c3 (build ID)", "[ext4]"; empty: unknown */
};

struct frames {
	struct frame *frames; /* owned, and their texts */
	size_t nr;
};

/* Copies the frame, and cuts what is longer than FRAME_TEXT. 0 or -ENOMEM. */
int frames__add(struct frames *frames, const struct frame *frame);

/* Call after the last frames__add(), before frames__find(): keeps one frame of each address. */
void frames__sort(struct frames *frames);

/* NULL: the address has no name. */
const struct frame *frames__find(const struct frames *frames, uint64_t pid, uint64_t address);

void frames__clear(struct frames *frames);

/* Takes the next address from a stack as tables have it: "ffffffff81000000 7f00". False: none. */
bool frames__next(const char **stack, uint64_t *address);

/* Takes off the first frames of a kernel stack that are of latscope's program, by their names. */
void frames__skip_tracing(const struct frames *frames, const char **stack);

#define FRAME_TEXT 512

struct frames_walk {
	const struct frames *frames;
	uint64_t pid;
	const char *stack; /* the rest */
	unsigned int most; /* frames that may still be given */
	const struct frame *last;
	bool ended;
};

/* Starts with the innermost frame; in the kernel (pid 0) without those of latscope's program. */
struct frames_walk frames__walk(const struct frames *frames, uint64_t pid, const char *stack,
				unsigned int most);

/*
 * The next brief text: a frame, "..." if there are more than `most`, or that the stack is
 * truncated. NULL: that was all.
 */
const char *frames__walk_next(struct frames_walk *walk, char out[FRAME_TEXT]);

/*
 * "read+0x1d libc.so.6+0x2a1c3 (build ID)"; `brief`: "read+0x1d", or "libc.so.6+0x2a1c3" if the
 * name is unknown. The address, if neither is known (or frame is NULL). Returns out.
 */
const char *frame__text(const struct frame *frame, uint64_t address, bool brief,
			char out[FRAME_TEXT]);

#endif
