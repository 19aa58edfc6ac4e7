/* SPDX-License-Identifier: BSD-2-Clause */
/* A growing buffer of bytes. After memory ran out it stays as it is, and `failed` is true. */
#ifndef LATSCOPE_NET_BYTES_H
#define LATSCOPE_NET_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Empty when zeroed. */
struct bytes {
	char *at; /* owned */
	size_t len, room;
	bool failed;
};

void bytes__add(struct bytes *bytes, const void *data, size_t len);
void bytes__text(struct bytes *bytes, const char *text);
void bytes__printf(struct bytes *bytes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Puts data at a position, and moves what follows. */
void bytes__insert(struct bytes *bytes, size_t position, const void *data, size_t len);

void bytes__free(struct bytes *bytes);

#endif
