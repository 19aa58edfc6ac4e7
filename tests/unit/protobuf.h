/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads messages of protobuf: written from the description of the encoding, without the library
 * that latscope writes them with.
 */
#ifndef LATSCOPE_TESTS_PROTOBUF_H
#define LATSCOPE_TESTS_PROTOBUF_H

#include "unit.h"

struct message {
	const unsigned char *at, *end;
};

struct field {
	unsigned int number, wire; /* wire: 0 varint, 1 fixed64, 2 bytes */
	uint64_t value;
	struct message bytes;
};

static inline uint64_t message_varint(struct message *message)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		unsigned char byte;

		assert_true(message->at < message->end);
		byte = *message->at++;
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
	fail_msg("a varint of more than 10 bytes");
	return 0;
}

/* False: there are no more. */
static inline bool message_next(struct message *message, struct field *field)
{
	uint64_t tag, len;

	if (message->at == message->end)
		return false;
	tag = message_varint(message);
	*field = (struct field){ .number = (unsigned int)(tag >> 3), .wire = tag & 7 };
	if (field->wire == 0) {
		field->value = message_varint(message);
		return true;
	}
	assert_true(field->wire == 1 || field->wire == 2);
	len = field->wire == 1 ? 8 : message_varint(message);
	assert_true(len <= (uint64_t)(message->end - message->at));
	field->bytes = (struct message){ message->at, message->at + len };
	if (field->wire == 1)
		memcpy(&field->value, message->at, 8);
	message->at += len;
	return true;
}

/* The nth field of that number. */
static inline bool message_has(struct message message, unsigned int number, unsigned int nth,
			       struct field *field)
{
	while (message_next(&message, field))
		if (field->number == number && !nth--)
			return true;
	return false;
}

static inline uint64_t message_number(struct message message, unsigned int number)
{
	struct field field;

	return message_has(message, number, 0, &field) ? field.value : 0;
}

static inline double message_double(struct message message, unsigned int number)
{
	uint64_t bits = message_number(message, number);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Empty, if there is none. */
static inline struct message message_in(struct message message, unsigned int number)
{
	struct field field;

	return message_has(message, number, 0, &field) ? field.bytes : (struct message){ 0 };
}

static inline char *message_text(struct message message, unsigned int number)
{
	const struct message bytes = message_in(message, number);

	return unit_text("%.*s", (int)(bytes.end - bytes.at), (const char *)bytes.at);
}

#endif
