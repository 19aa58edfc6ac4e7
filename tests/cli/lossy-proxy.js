// SPDX-License-Identifier: BSD-2-Clause
// A proxy before a server of HTTP that loses answers: the server has done what it was asked for, and the client gets no answer.
// usage: lossy-proxy.js URL COUNT: loses the first COUNT answers to inserts; prints its own port
"use strict";
const http = require("http");

const [, , url, count] = process.argv;
let left = Number(count);

const server = http.createServer((request, response) => {
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
	request.pipe(forward);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
