// SPDX-License-Identifier: BSD-2-Clause
#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 4096

static bool make_room(struct bytes *bytes, size_t more)
{
	size_t room = bytes->room ? bytes->room : LEAST;
	char *at;

	if (bytes->failed)
		return false;
	if (bytes->room - bytes->len >= more)
		return true;
	while (room - bytes->len < more)
		room *= 2;
	at = reallocarray(bytes->at, room, 1);
	if (!at) {
		bytes->failed = true;
		return false;
	}
	bytes->at = at;
	bytes->room = room;
	return true;
}

void bytes__add(struct bytes *bytes, const void *data, size_t len)
{
	if (!make_room(bytes, len))
		return;
	memcpy(bytes->at + bytes->len, data, len);
	bytes->len += len;
}

void bytes__text(struct bytes *bytes, const char *text)
{
	bytes__add(bytes, text, strlen(text));
}

void bytes__printf(struct bytes *bytes, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || !make_room(bytes, (size_t)len + 1))
		return;
	va_start(args, format);
	vsnprintf(bytes->at + bytes->len, (size_t)len + 1, format, args);
	va_end(args);
	bytes->len += (size_t)len;
}

void bytes__insert(struct bytes *bytes, size_t position, const void *data, size_t len)
{
	if (!make_room(bytes, len))
		return;
	memmove(bytes->at + position + len, bytes->at + position, bytes->len - position);
	memcpy(bytes->at + position, data, len);
	bytes->len += len;
}

void bytes__free(struct bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct bytes){ 0 };
}
