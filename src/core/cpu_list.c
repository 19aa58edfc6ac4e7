// SPDX-License-Identifier: BSD-2-Clause
#include "cpu_list.h"

#include <errno.h>
#include <string.h>

#define DIGITS 9 /* more are no number of a CPU, and fit in no unsigned int */

/* Reads a number, and moves *text behind it. */
static int take_number(const char **text, unsigned int *number)
{
	size_t digits = strspn(*text, "0123456789");

	if (!digits)
		return -EINVAL;
	if (digits > DIGITS)
		return -ERANGE;
	*number = 0;
	for (; digits; digits--)
		*number = 10 * *number + (unsigned int)(*(*text)++ - '0');
	return *number < LAT_CPUS ? 0 : -ERANGE;
}

int cpu_list__parse(const char *text, uint64_t mask[LAT_CPUS / 64])
{
	unsigned int from = 0, to;
	int err;

	memset(mask, 0, LAT_CPUS / 8);
	do {
		err = take_number(&text, &from);
		to = from;
		if (!err && *text == '-') {
			text++;
			err = take_number(&text, &to);
		}
		if (err)
			return err;
		if (to < from)
			return -EINVAL;
		for (; from <= to; from++)
			mask[from / 64] |= 1ULL << from % 64;
	} while (*text++ == ',');
	return text[-1] ? -EINVAL : 0;
}

unsigned int cpu_list__next(const uint64_t mask[LAT_CPUS / 64], unsigned int cpu)
{
	while (cpu < LAT_CPUS && !(mask[cpu / 64] >> cpu % 64 & 1))
		cpu++;
	return cpu;
}
