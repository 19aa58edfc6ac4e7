// SPDX-License-Identifier: BSD-2-Clause
// A proxy before a server of HTTP that refuses one request: usage: failing-proxy.js URL; prints its own port. The path /refuse/N, or
// /lose/N, says that the Nth request from now on is refused by the status 500, or gets half an answer; the answer is the number of
// requests since the last such path. The server gets neither.
"use strict";
const http = require("http");

const url = process.argv[2];
let requests = 0;
let wanted = 0;
let kind = "";

const choose = (path, response) => {
	response.end(`${requests}\n`);
	[, kind, wanted] = path.split("/");
	wanted = Number(wanted);
	requests = 0;
};

const fail = (response) => {
	if (kind === "refuse") {
		response.writeHead(500);
		response.end("Code: 241, e.displayText() = DB::Exception: Memory limit exceeded");
		return;
	}
	response.writeHead(200, { "Content-Length": 100 });
	response.write("1\n", () => response.destroy());
};

const server = http.createServer((request, response) => {
	if (request.method === "GET") {
		choose(request.url, response);
		return;
	}
	if (++requests === wanted) {
		request.resume();
		request.on("end", () => fail(response));
		return;
	}
	const options = { method: request.method, headers: request.headers };
	const forward = http.request(new URL(request.url, url), options, (answer) => {
		response.writeHead(answer.statusCode, answer.headers);
		answer.pipe(response);
	});
	forward.on("error", () => response.destroy());
	request.pipe(forward);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
