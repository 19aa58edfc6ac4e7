// SPDX-License-Identifier: BSD-2-Clause
// Reads the data that src/print/html_data.c embeds: series of columns as text, see src/print/html_page.h.
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUE_OF = {};

for (let i = 0; i < DIGITS.length; i++)
	VALUE_OF[DIGITS[i]] = i;

// Returns a function that reads the next number of the text; at the end it returns undefined.
function numbersOf(text) {
	let at = 0;
	return function next() {
		let value = 0, scale = 1, digit;
		if (at >= text.length)
			return undefined;
		do {
			digit = VALUE_OF[text[at++]];
			value += digit % 32 * scale;
			scale *= 32;
		} while (digit >= 32);
		return value;
	};
}

function readSlots(next, nr, withCounts) {
	const cell = { slots: [], n: 0, counts: [] };
	let slot = 0;
	for (let i = 0; i < nr; i++) {
		slot += next();
		const count = next();
		cell.slots.push(slot, count);
		cell.n += count;
	}
	cell.sum = next();
	cell.max = next();
	cell.tail = next();
	for (let i = withCounts ? next() : 0; i > 0; i--)
		cell.counts.push([next(), next()]);
	return cell;
}

// The columns of a series; null: nothing happened in it.
function readSeries(text, kind) {
	const next = numbersOf(text || ""), columns = [];
	let first;
	while ((first = next()) !== undefined) {
		if (first === 0)
			for (let i = next(); i > 0; i--)
				columns.push(null);
		else if (kind === "values")
			columns.push({ sum: first });
		else if (kind === "sums")
			columns.push({ n: first - 1, sum: next(), max: next() });
		else
			columns.push(readSlots(next, first - 1, kind === "metric"));
	}
	return columns;
}

function readEdges(columns) {
	const next = numbersOf(columns.edges), edges = [];
	let at = 0;
	for (let i = 0; i < columns.nr; i++) {
		const start = at + next(), end = start + next();
		edges.push({ start, end });
		at = end;
	}
	return edges;
}

function readWhy(why) {
	if (!why)
		return;
	for (const one of why.parts.concat(why.pairs))
		one.columns = readSeries(one.sums, "sums");
	why.othersColumns = readSeries(why.others, "sums");
}

function readProbes(probes) {
	for (const probe of probes) {
		for (const metric of probe.metrics || [])
			metric.columns = readSeries(metric.cells, "metric");
		for (const key of probe.keys || [])
			[key.groups, key.columns] = [readSeries(key.cells, "key"), key.sums === undefined ? null : readSeries(key.sums, "sums")];
		readWhy(probe.why);
	}
}

// Times of parts, of which the series are in us.
function readBars(bars) {
	const read = (text) => readSeries(text, "values").map((cell) => cell && { sum: cell.sum * 1000 });
	if (!bars)
		return;
	bars.machine = bars.machine.map(read);
	for (const split of bars.splits)
		for (const bar of split.bars.concat(split.others))
			bar.parts = bar.parts.map(read);
}

function loadData() {
	const data = JSON.parse(document.getElementById("data").textContent);
	if (data.kind === "report") {
		data.edges = readEdges(data.columns);
		readProbes(data.series);
		readBars(data.bars);
		data.pressure = data.pressure && data.pressure.map((text) => readSeries(text, "values").map((cell) => cell && (cell.sum - 1) / 100000));
	}
	return data;
}

// The columns whose middle is in the span, as [first, behind the last]; ns. The rule of --from and --to.
function spanOf(edges, fromNs, toNs) {
	let first = edges.length, end = 0;
	edges.forEach((edge, i) => {
		const middle = edge.start + Math.floor((edge.end - edge.start) / 2);
		if (middle < fromNs || middle >= toNs)
			return;
		first = Math.min(first, i);
		end = i + 1;
	});
	return first < end ? [first, end] : [0, 0];
}

function sumSpan(columns, [first, end]) {
	const hist = emptyHist();
	for (let i = first; i < end; i++)
		if (columns[i])
			addHist(hist, columns[i]);
	return hist;
}
