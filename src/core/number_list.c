// SPDX-License-Identifier: BSD-2-Clause
#include "number_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int number_list__number(const char **text, unsigned long most, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	errno = 0;
	*number = strtoul(*text, &end, 10);
	*text = end;
	return errno || *number > most ? -ERANGE : 0;
}

static int take_range(const char **text, unsigned long most, unsigned long *low,
		      unsigned long *high)
{
	int err = number_list__number(text, most, low);

	*high = *low;
	if (err || **text != '-')
		return err;
	(*text)++;
	err = number_list__number(text, most, high);
	return err ? err : *high < *low ? -EINVAL : 0;
}

int number_list__each(const char *text, unsigned long most, number_list_take *take, void *to)
{
	unsigned long low, high;
	int err;

	do {
		err = take_range(&text, most, &low, &high);
		if (!err)
			err = take(to, low, high);
		if (err)
			return err;
	} while (*text++ == ',');
	return text[-1] ? -EINVAL : 0;
}

int number_list__set_bits(void *to, unsigned long low, unsigned long high)
{
	uint64_t *bits = to;

	*bits |= (UINT64_MAX >> (63 - (high - low))) << low;
	return 0;
}
