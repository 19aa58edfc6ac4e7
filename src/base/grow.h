/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_BASE_GROW_H
#define LATSCOPE_BASE_GROW_H

#include <stddef.h>

/*
 * Room for one more in an array that has only ever grown by this: where it lies now, or NULL if
 * there is no memory, and then it is as it was. No capacity is kept: it is the next power of two
 * of nr.
 */
void *grow__one(void *array, size_t nr, size_t size);

#endif
