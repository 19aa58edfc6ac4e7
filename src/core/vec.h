/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_CORE_VEC_H
#define LATSCOPE_CORE_VEC_H

#include <stddef.h>

/*
 * Room for one more in an array that has only ever grown by this: where it lies now, or NULL if
 * there is no memory, and then it is as it was. No capacity is kept: it is the next power of two
 * of nr.
 */
void *vec__grow(void *array, size_t nr, size_t size);

#endif
