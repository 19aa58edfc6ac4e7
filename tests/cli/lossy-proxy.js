// SPDX-License-Identifier: BSD-2-Clause
// A proxy before a server of HTTP that loses answers: the server has done what it was asked for, and the client gets no answer.
// usage: lossy-proxy.js URL COUNT [NUMBER]: loses the first COUNT answers to inserts; refuses those with rows of the interval NUMBER
// by the status 500; prints its own port
"use strict";
const http = require("http");
const zlib = require("zlib");

const [, , url, count, number] = process.argv;
let left = Number(count);

// The fourth column is the number of the interval.
const isBad = (body) =>
	zlib
		.gunzipSync(body)
		.toString()
		.split("\n")
		.some((row) => row.split("\t")[3] === number);

const pass = (request, response, body) => {
	const target = new URL(request.url, url);
	const forward = http.request(target, { method: request.method, headers: request.headers }, (answer) => {
		const parts = [];
		answer.on("data", (part) => parts.push(part));
		answer.on("end", () => {
			if (request.url.includes("INSERT") && left-- > 0) {
				request.socket.destroy();
				return;
			}
			response.writeHead(answer.statusCode);
			response.end(Buffer.concat(parts));
		});
	});
	forward.on("error", () => request.socket.destroy());
	forward.end(body);
};

const server = http.createServer((request, response) => {
	const parts = [];
	request.on("data", (part) => parts.push(part));
	request.on("end", () => {
		const body = Buffer.concat(parts);
		if (number && request.url.includes("INSERT") && isBad(body)) {
			response.writeHead(500);
			response.end("Code: 999, the rows of this interval are not wanted");
			return;
		}
		pass(request, response, body);
	});
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
