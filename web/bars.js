// SPDX-License-Identifier: BSD-2-Clause
// Where the time of threads went: bands of parts that sum to their life, and the longest waits with the chain of what ended them.
const BAND = 44; // px
const IDLE = 8; // the palette ends before it

const barsKey = (parts) => el("div", { class: "legend" }, ...parts.map((part) =>
	el("span", { title: part.what }, el("i", { class: "swatch c" + part.color }), part.name)));

const look = (part) => part.color < IDLE ? { fill: COLORS[part.color] } : { class: "rest" };

// "12.3 s of threads: 57.0 % on a CPU, ..."; the parts of a span, the largest first. Empty: it did not live then.
function barText(bar, parts, span) {
	const sums = bar.parts.map((columns) => sumOf(columns, span)), life = sums.reduce((all, ns) => all + ns, 0);
	const told = sums.map((ns, i) => [ns, parts[i].what]).filter(([ns]) => ns > life * 0.0005).sort((a, b) => b[0] - a[0]);
	return life ? fmtNs(life) + " of threads: " + told.map(([ns, what]) => fmtShare(ns, life) + " " + what).join(", ") : "";
}

// Shares of the life in each column, stacked; what is idle is the background.
function barBand(bar, parts, of, text) {
	const frame = svgEl("svg", { width: of.width, height: BAND, role: "img" }, svgEl("title", null, bar.name || "others"), svgEl("desc", null, text),
		svgEl("rect", { x: LEFT, width: of.width - LEFT - RIGHT, height: BAND, class: "back" }));
	const x = (ns) => LEFT + (ns - of.start) / Math.max(1, of.end - of.start) * (of.width - LEFT - RIGHT);
	const lives = of.edges.map((_, i) => bar.parts.reduce((all, columns) => all + (columns[i] ? columns[i].sum : 0), 0)), base = lives.map(() => 0);
	parts.forEach((part, at) => {
		const d = of.edges.map((edge, i) => {
			const ns = bar.parts[at][i] ? bar.parts[at][i].sum : 0, low = base[i];
			base[i] += ns;
			return ns ? "M" + x(edge.start).toFixed(1) + " " + ((1 - low / lives[i]) * BAND).toFixed(1) + "H" + (x(edge.end) + 0.3).toFixed(1) + "V" +
				((1 - base[i] / lives[i]) * BAND).toFixed(1) + "H" + x(edge.start).toFixed(1) + "z" : "";
		}).join("");
		if (d && part.color < IDLE)
			frame.append(svgEl("path", { d, ...look(part) }));
	});
	hoverColumns(frame, of, (at) => parts.map((part, i) => [part, bar.parts[i][at]]).filter(([, cell]) => cell)
		.map(([part, cell]) => part.name + ": " + fmtNs(cell.sum) + ", " + fmtShare(cell.sum, lives[at])));
	return frame;
}

// A bar for the wait and one for each link, in one scale.
function chainNode(wait, parts) {
	const line = (link) => el("div", null, svgEl("svg", { width: 150, height: 10, "aria-hidden": "true" }, link.ns ? svgEl("rect", {
		width: Math.max(1, Math.min(1, link.ns / wait.ns) * 150), height: 10, ...look(parts[link.part]) }) : null), el("span", null, link.text));
	return el("div", { class: "chain" }, line({ ns: wait.ns, part: wait.part, text: parts[wait.part].what + (wait.call ? " in " + wait.call : "") }),
		...wait.chain.map((link, i) => line({ ...link, text: (i ? "< " : "ended by ") + link.text })));
}

function waitsTable(bars, edges, span, most, more) {
	const low = span[0] < span[1] ? edges[span[0]].start : 0, high = span[0] < span[1] ? edges[span[1] - 1].end : 0;
	const inside = bars.waits.filter((wait) => wait.time_ns >= low && wait.time_ns <= high).sort((a, b) => b.ns - a.ns);
	if (!inside.length)
		return el("p", { class: "empty" }, "No long waits in this time range.");
	return el("div", null, sortable([["end"], ["took"], ["thread", "name"], ["for, and what ended it", "wide name"]], inside.slice(0, most).map((wait) => [
		number(fmtSec(wait.time_ns), wait.time_ns), number(fmtNs(wait.ns), wait.ns), { text: wait.comm + " (" + wait.tid + ")" },
		{ text: "", node: chainNode(wait, bars.parts) }])), moreButton(inside.length - most, more));
}

// ---- the machine, and who waited ----

// What of a part was waits that ended: a thread that sleeps in a read all the time may just have no work. Known of the whole.
function waitedOf(bar, i, span) {
	const ns = sumOf(bar.parts[i], span), spent = sumOf(bar.parts[i], [0, Infinity]);
	return spent ? ns * Math.min(1, bar.waits_us[i] * 1000 / spent) : 0;
}

// All threads: how many ran or waited at a time.
function machineRow(bars, of) {
	const parts = bars.parts.map((part, i) => ({ ...part, columns: bars.machine[i] })).filter((part) => part.color < IDLE && part.columns.some((cell) => cell));
	const life = Math.max(1, of.span[0] < of.span[1] ? of.edges[of.span[1] - 1].end - of.edges[of.span[0]].start : 0);
	const told = parts.map((part) => [sumOf(part.columns, of.span) / life, part.what]).filter(([most]) => most >= 0.005);
	const all = told.reduce((sum, [tasks]) => sum + tasks, 0);
	return el("div", { class: "row" }, el("div", { class: "name", id: "machine" }, el("b", null, "all threads"), " on average " + digits(all) + " ran or waited at a time: " +
		told.sort((a, b) => b[0] - a[0]).map(([tasks, what]) => digits(tasks) + " " + what).join(", ")), stackPicture(parts, of, "Threads that ran or waited at a time"));
}

// A line for each of the split that waited in this time range.
function waitersTable(split, parts, span, whole) {
	const rows = split.bars.concat(split.others).map((bar) => {
		const sums = bar.parts.map((columns) => sumOf(columns, span)), life = sums.reduce((all, ns) => all + ns, 0);
		const waits = sums.map((_, i) => waitedOf(bar, i, span)), waited = waits.reduce((all, ns) => all + ns, 0);
		const told = waits.map((ns, i) => [ns, parts[i].name.replace(/^wait /, "")]).filter(([ns]) => ns > life * 0.005).sort((a, b) => b[0] - a[0]).slice(0, 4);
		return [{ text: bar.name || split.nr_others + " others" }, number(fmtNs(waited), waited), number(fmtShare(waited, life), waited / Math.max(1, life)),
			{ text: told.map(([ns, name]) => name + " " + fmtShare(ns, life)).join(", ") || "–" }, ...(whole ? [{ text: bar.cause || "–" }] : [])];
	}).filter((row) => row[1].value > 0);
	return rows.length ? sortable([[split.by, "name"], ["waited"], ["of its life"], ["for what", "name"], ...(whole ? [["because of, % of it", "name"]] : [])], rows)
		: el("p", { class: "empty" }, "Nothing waited in this time range.");
}

// ---- pressure ----

const LANE = 24; // px
const PRESSURE = [["CPU", 1], ["memory", 3], ["I/O", 4]]; // and their colours: those of the parts

const pressureMean = (columns, of) => columns.slice(of.span[0], of.span[1]).reduce((sum, share, i) => {
	const edge = of.edges[of.span[0] + i], length = edge.end - edge.start;
	return share === null ? sum : [sum[0] + share * length, sum[1] + length];
}, [0, 0]);

// A lane for each: the share of the time in which a task waited.
function pressureRow(pressure, of) {
	const frame = svgEl("svg", { width: of.width, height: LANE * PRESSURE.length, role: "img", "aria-label": "Pressure" });
	const x = (ns) => LEFT + (ns - of.start) / Math.max(1, of.end - of.start) * (of.width - LEFT - RIGHT);
	const means = pressure.map((columns, lane) => {
		const foot = (lane + 1) * LANE - 2, d = columns.map((share, i) => share ? "M" + x(of.edges[i].start).toFixed(1) + " " + foot + "V" +
			(foot - Math.min(1, share) * (LANE - 4)).toFixed(1) + "H" + (x(of.edges[i].end) + 0.3).toFixed(1) + "V" + foot + "z" : "").join("");
		frame.append(svgEl("rect", { x: LEFT, y: foot - LANE + 4, width: of.width - LEFT - RIGHT, height: LANE - 4, class: "back" }),
			svgEl("path", { d, fill: COLORS[PRESSURE[lane][1]] }), svgEl("text", { x: LEFT - 6, y: foot - 6, "text-anchor": "end" }, PRESSURE[lane][0]));
		const [sum, length] = pressureMean(columns, of);
		return PRESSURE[lane][0] + " " + (length ? fmtShare(Math.min(sum, length), length) : "unknown");
	});
	hoverColumns(frame, of, (at) => pressure.map((columns, lane) => PRESSURE[lane][0] + ": " + (columns[at] === null ? "unknown" : fmtShare(Math.min(1, columns[at]), 1))));
	return el("div", { class: "row" }, el("div", { class: "name", id: "pressure" }, el("b", null, "pressure"), " share of the time in which a task waited for it (PSI): " + means.join(", ")),
		brush(frame, "Pressure"));
}
