// SPDX-License-Identifier: BSD-2-Clause
// Reads protobuf, from the description of its encoding. A message is an object of the fields that a schema names:
//
//	{ number: [name, type] }; type: a schema, or 'int', 'uint', 'bool', 'string', 'double', 'fixed64'; with '[]' after it: repeated
//
// Numbers of 64 bits are BigInt. A field that the schema does not have, and a text that is not UTF-8, is an error.
'use strict';

const strict = new TextDecoder('utf-8', { fatal: true });

function varint(bytes, state) {
	let value = 0n, shift = 0n;

	for (;;) {
		const byte = bytes[state.at++];
		if (byte === undefined || shift > 63n)
			throw new Error('a varint without an end');
		value |= BigInt(byte & 127) << shift;
		shift += 7n;
		if (byte < 128)
			return BigInt.asUintN(64, value);
	}
}

function value_of(type, wire, bytes, state) {
	if (wire === 0) {
		const value = varint(bytes, state);
		if (type === 'bool')
			return value !== 0n;
		if (type !== 'int' && type !== 'uint')
			throw new Error(`a varint, not ${type}`);
		return type === 'int' ? BigInt.asIntN(64, value) : value;
	}
	if (wire === 1) {
		const view = new DataView(bytes.buffer, bytes.byteOffset + state.at, 8);
		state.at += 8;
		if (type !== 'double' && type !== 'fixed64')
			throw new Error(`8 bytes, not ${type}`);
		return type === 'double' ? view.getFloat64(0, true) : view.getBigUint64(0, true);
	}
	if (wire !== 2)
		throw new Error(`wire type ${wire}`);
	const length = Number(varint(bytes, state)), part = bytes.subarray(state.at, state.at + length);
	if (part.length !== length)
		throw new Error('a field without an end');
	state.at += length;
	if (type === 'string')
		return strict.decode(part);
	if (typeof type === 'object')
		return decode(part, type);
	const packed = { at: 0 }, values = [];
	while (packed.at < part.length)
		values.push(value_of(type, 0, part, packed));
	return { packed: values };
}

function decode(bytes, schema) {
	const message = {}, state = { at: 0 };

	while (state.at < bytes.length) {
		const tag = varint(bytes, state), field = schema[Number(tag >> 3n)];
		if (!field)
			throw new Error(`unknown field ${tag >> 3n}`);
		const [name, type] = field, many = Array.isArray(type);
		const value = value_of(many ? type[0] : type, Number(tag & 7n), bytes, state);
		if (!many)
			message[name] = value;
		else
			(message[name] ??= []).push(...(value.packed ?? [value]));
	}
	return message;
}

module.exports = { decode };
