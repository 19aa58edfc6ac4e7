// SPDX-License-Identifier: BSD-2-Clause
#include "sanitize.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool continues(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * The length of a sequence by its first byte. The ranges of the second byte exclude overlong
 * sequences, UTF-16 surrogates and code points past the end.
 */
static size_t sequence(const unsigned char *at, unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xbf;
	if (at[0] >= 0xc2 && at[0] <= 0xdf) {
		if (at[0] == 0xc2)
			*low = 0xa0; /* excludes the C1 controls, which terminals obey too */
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

/*
 * Characters that change the order of others, or that nobody sees (Unicode: Bidi_Control,
 * Default_Ignorable_Code_Point, line and paragraph separators): with these one name can look like
 * another.
 */
static bool deceives(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0xad, 0xad },	      { 0x34f, 0x34f },	    { 0x61c, 0x61c },
		{ 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
		{ 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },
		{ 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* Code point of a valid sequence of 2 to 4 bytes. */
static uint32_t code_point(const unsigned char *at, size_t len)
{
	uint32_t code = at[0] & (0x7fU >> len);

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (at[i] & 0x3f);
	return code;
}

/* Length of the valid character at this place; 0 if there is none. */
static size_t character(const unsigned char *at)
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

static bool is_shown(const unsigned char *at, size_t len)
{
	return len == 1 || (len && !deceives(code_point(at, len)));
}

char *sanitize__text(char *dst, size_t size, const char *src)
{
	const unsigned char *at = (const unsigned char *)src;
	size_t used = 0;

	while (*at) {
		size_t len = character(at), put = is_shown(at, len) ? len : 1;

		if (used + put >= size)
			break;
		if (is_shown(at, len))
			memmove(dst + used, at, len);
		else
			dst[used] = '?';
		used += put;
		at += len ? len : 1;
	}
	if (size)
		dst[used] = '\0';
	return dst;
}

void sanitize__in_place(char *text)
{
	if (text)
		sanitize__text(text, strlen(text) + 1, text);
}

size_t sanitize__columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += !continues((unsigned char)text[i]);
	return columns;
}
