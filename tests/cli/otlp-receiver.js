// SPDX-License-Identifier: BSD-2-Clause
// otlp-receiver.js DIR: a collector that keeps what it gets: DIR/N.json and DIR/N.headers, from 1 on. It answers the status in
// DIR/status, or 200; DIR/refused has the others. Prints its port.
'use strict';
const fs = require('fs'), http = require('http'), zlib = require('zlib');
const dir = process.argv[2];
let count = 0;

http.createServer((request, response) => {
	const parts = [];

	request.on('data', (part) => parts.push(part));
	request.on('end', () => {
		const status = fs.existsSync(dir + '/status') ? Number(fs.readFileSync(dir + '/status')) : 200;
		const body = Buffer.concat(parts);
		const text = request.headers['content-encoding'] === 'gzip' ? zlib.gunzipSync(body) : body;

		if (status === 200) {
			count++;
			fs.writeFileSync(`${dir}/${count}.headers`, JSON.stringify({ ...request.headers, path: request.url }));
			fs.writeFileSync(`${dir}/${count}.tmp`, text);
			fs.renameSync(`${dir}/${count}.tmp`, `${dir}/${count}.json`);
		}
		if (status !== 200)
			fs.appendFileSync(dir + '/refused', `${status}\n`);
		response.writeHead(status, { 'Content-Type': 'application/json' });
		response.end(status === 200 ? '{"partialSuccess":{}}' : 'not today');
	});
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
