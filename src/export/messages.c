// SPDX-License-Identifier: BSD-2-Clause
#include "messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GZIP_BITS (15 + 16) /* zlib: with a header of gzip */

void messages__begin(struct messages *messages, FILE *out, bool zips)
{
	*messages = (struct messages){ .out = out, .zips = zips };
	if (zips && deflateInit2(&messages->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
				 Z_DEFAULT_STRATEGY) != Z_OK)
		messages->err = -ENOMEM;
}

static void put(struct messages *messages, const void *bytes, size_t size)
{
	errno = 0;
	if (!messages->err && fwrite(bytes, 1, size, messages->out) != size)
		messages->err = errno ? -errno : -EIO;
}

static void zip(struct messages *messages, uint8_t *bytes, size_t size, int flush)
{
	unsigned char piece[4096];

	messages->zip.next_in = bytes;
	messages->zip.avail_in = (uInt)size;
	do {
		messages->zip.next_out = piece;
		messages->zip.avail_out = sizeof(piece);
		deflate(&messages->zip, flush);
		put(messages, piece, sizeof(piece) - messages->zip.avail_out);
	} while (!messages->err && !messages->zip.avail_out);
}

void messages__put(struct messages *messages, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *grown;

	if (messages->err)
		return;
	if (size > messages->size) {
		grown = realloc(messages->buffer, 2 * size);
		if (!grown) {
			messages->err = -ENOMEM;
			return;
		}
		messages->buffer = grown;
		messages->size = 2 * size;
	}
	protobuf_c_message_pack(message, messages->buffer);
	if (messages->zips)
		zip(messages, messages->buffer, size, Z_NO_FLUSH);
	else
		put(messages, messages->buffer, size);
}

int messages__end(struct messages *messages)
{
	if (messages->zips && !messages->err)
		zip(messages, NULL, 0, Z_FINISH);
	if (messages->zips)
		deflateEnd(&messages->zip);
	free(messages->buffer);
	messages->buffer = NULL;
	errno = 0;
	if (!messages->err && fflush(messages->out))
		messages->err = errno ? -errno : -EIO;
	return messages->err;
}
