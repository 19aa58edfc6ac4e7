/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of protobuf, one after the other, to a stream. Where a message of that kind has only
 * repeated fields, several of them are together one: so a file is written piece by piece.
 */
#ifndef LATSCOPE_EXPORT_MESSAGES_H
#define LATSCOPE_EXPORT_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <protobuf-c/protobuf-c.h>
#include <zlib.h>

struct messages {
	FILE *out;
	bool zips; /* as gzip */
	z_stream zip;
	uint8_t *buffer; /* of the largest message so far; owned */
	size_t size;
	int err; /* the first one; nothing is written after it */
};

void messages__begin(struct messages *messages, FILE *out, bool zips);
void messages__put(struct messages *messages, const ProtobufCMessage *message);
int messages__end(struct messages *messages); /* 0 or the first -errno; must always be called */

#endif
