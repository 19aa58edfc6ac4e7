/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of numbers, as the kernel prints them and users write them: "8" or "1,3-5". */
#ifndef LATSCOPE_CORE_NUMBER_LIST_H
#define LATSCOPE_CORE_NUMBER_LIST_H

/* Is told a range of the list, both ends included. Not 0 ends the list, and is its result. */
typedef int number_list_take(void *to, unsigned long low, unsigned long high);

/*
 * A list to the end of the text, not empty. 0; -EINVAL: it is no list, or a range ends before it
 * begins; -ERANGE: a number is larger than `most`; or what `take` returned.
 */
int number_list__each(const char *text, unsigned long most, number_list_take *take, void *to);

/* One decimal number up to `most`, of digits alone; moves *text behind it. Errors as above. */
int number_list__number(const char **text, unsigned long most, unsigned long *number);

/* A number_list_take: sets the bits of a range of 0 to 63. `to`: a uint64_t. */
int number_list__set_bits(void *to, unsigned long low, unsigned long high);

#endif
