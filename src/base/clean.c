// SPDX-License-Identifier: BSD-2-Clause
#include "clean.h"

#include <stdbool.h>
#include <string.h>

static bool continues(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * Length by the first byte; the ranges of the second leave out what is overlong, UTF-16's or past
 * the end.
 */
static size_t sequence(const unsigned char *at, unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xbf;
	if (at[0] >= 0xc2 && at[0] <= 0xdf) {
		if (at[0] == 0xc2)
			*low = 0xa0; /* below lie the C1 controls, which terminals obey too */
		return 2;
	}
	if ((at[0] & 0xf0) == 0xe0) {
		if (at[0] == 0xe0)
			*low = 0xa0;
		if (at[0] == 0xed)
			*high = 0x9f;
		return 3;
	}
	if (at[0] >= 0xf0 && at[0] <= 0xf4) {
		if (at[0] == 0xf0)
			*low = 0x90;
		if (at[0] == 0xf4)
			*high = 0x8f;
		return 4;
	}
	return 0;
}

/* Bytes of the printable character at this place, 0 if there is none. */
static size_t printable(const unsigned char *at)
{
	unsigned char low, high;
	size_t len;

	if (*at < 0x80)
		return *at >= ' ' && *at < 0x7f;
	len = sequence(at, &low, &high);
	if (!len || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (!continues(at[i]))
			return 0;
	}
	return len;
}

char *clean__text(char *dst, size_t size, const char *src)
{
	const unsigned char *at = (const unsigned char *)src;
	size_t used = 0;

	while (*at) {
		size_t len = printable(at);

		if (used + (len ? len : 1) >= size)
			break;
		if (len)
			memcpy(dst + used, at, len);
		else
			dst[used] = '?';
		used += len ? len : 1;
		at += len ? len : 1;
	}
	if (size)
		dst[used] = '\0';
	return dst;
}

size_t clean__columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += !continues((unsigned char)text[i]);
	return columns;
}
