/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_CORE_VEC_H
#define LATSCOPE_CORE_VEC_H

#include <stddef.h>

/*
 * Makes room for one more element in an array that only this function allocated. Returns its new
 * address, or NULL without memory; the array is then unchanged. The capacity is the next power of
 * two of nr.
 */
void *vec__grow(void *array, size_t nr, size_t size);

/* Appends a copy of an element. `array`: address of the pointer to the first. 0 or -ENOMEM. */
int vec__append(void *array, size_t *nr, const void *element, size_t size);

#endif
