// SPDX-License-Identifier: BSD-2-Clause
// values.js < DOM: prints the tables of a page, one JSON array per row: the value of a cell as data-value has it, else its text.
"use strict";
const dom = require("fs").readFileSync(0, "utf8"), live = dom.slice(dom.indexOf('<section id="who">'), dom.indexOf('<div id="static"'));
const plain = (html) => html.replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

for (const [, row] of live.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)) {
	const cells = [...row.matchAll(/<td([^>]*)>(.*?)<\/td>/gs)].map(([, attributes, html]) => {
		const value = /data-value="([^"]*)"/.exec(attributes);
		return value ? Number(value[1]) : plain(html);
	});
	if (cells.length)
		console.log(JSON.stringify(cells));
}
