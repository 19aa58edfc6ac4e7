// SPDX-License-Identifier: BSD-2-Clause
// png.js FILE: prints how many colours a screenshot has, and its mean brightness in percent.
"use strict";
const fs = require("fs"), zlib = require("zlib");

function chunks(file) {
	const data = fs.readFileSync(file), parts = [];
	let head;
	for (let at = 8; at < data.length; at += data.readUInt32BE(at) + 12) {
		const kind = data.toString("latin1", at + 4, at + 8), body = data.subarray(at + 8, at + 8 + data.readUInt32BE(at));
		if (kind === "IHDR")
			head = { width: body.readUInt32BE(0), height: body.readUInt32BE(4), bytes: body[9] === 6 ? 4 : 3 };
		if (kind === "IDAT")
			parts.push(body);
	}
	return { ...head, rows: zlib.inflateSync(Buffer.concat(parts)) };
}

// The predictor of PNG's filter 4.
function paeth(a, b, c) {
	const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);
	return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

function unfilter({ width, height, bytes, rows }) {
	const line = width * bytes, out = Buffer.alloc(line * height);
	for (let y = 0; y < height; y++) {
		const filter = rows[y * (line + 1)];
		for (let x = 0; x < line; x++) {
			const a = x < bytes ? 0 : out[y * line + x - bytes], b = y ? out[(y - 1) * line + x] : 0;
			const c = y && x >= bytes ? out[(y - 1) * line + x - bytes] : 0;
			const add = [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter];
			out[y * line + x] = rows[y * (line + 1) + 1 + x] + add;
		}
	}
	return out;
}

const image = chunks(process.argv[2]), pixels = unfilter(image), colours = new Set();
let sum = 0;
for (let at = 0; at < pixels.length; at += image.bytes) {
	colours.add(pixels.readUIntBE(at, 3));
	sum += pixels[at] + pixels[at + 1] + pixels[at + 2];
}
console.log(colours.size, Math.round(sum / (pixels.length / image.bytes) / 7.65));
