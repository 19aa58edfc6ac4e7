/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of a kernel stack, as other tools show them. */
#ifndef LATSCOPE_EXPORT_STACK_NAMES_H
#define LATSCOPE_EXPORT_STACK_NAMES_H

#include <core/frames.h>

#define STACK_NAMES 64 /* frames, at most; those further out are left out */

struct stack_name {
	uint64_t address;
	char name[FRAME_TEXT]; /* "vfs_read", or the address */
};

struct stack_names {
	struct stack_name frames[STACK_NAMES]; /* innermost first */
	unsigned int nr;
};

/* Of an address. Without the offset: places in one function have one name. */
void stack_name__of(const struct frames *frames, uint64_t address, char out[FRAME_TEXT]);

/* `stack`: as tables have it. Frames of latscope's own programs are left out. */
void stack_names__of(struct stack_names *names, const struct frames *frames, const char *stack);

#endif
