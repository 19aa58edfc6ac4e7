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
	frame.addEventListener("pointermove", (event) => {
		const ns = of.start + (event.clientX - frame.getBoundingClientRect().left - LEFT) / (of.width - LEFT - RIGHT) * (of.end - of.start);
		const at = of.edges.findIndex((edge) => ns >= edge.start && ns < edge.end);
		hint(event, at < 0 ? null : [fmtSec(of.edges[at].start) + " to " + fmtSec(of.edges[at].end)].concat(parts.map((part, i) => [part, bar.parts[i][at]])
			.filter(([, cell]) => cell).map(([part, cell]) => part.name + ": " + fmtNs(cell.sum) + ", " + fmtShare(cell.sum, lives[at]))));
	});
	frame.addEventListener("pointerleave", () => hint());
	return frame;
}

// A bar for the wait and one for each link, in one scale.
function chainNode(wait, parts) {
	const line = (link) => el("div", null, svgEl("svg", { width: 150, height: 10, "aria-hidden": "true" }, link.ns ? svgEl("rect", {
		width: Math.max(1, Math.min(1, link.ns / wait.ns) * 150), height: 10, ...look(parts[link.part]) }) : null), el("span", null, link.text));
	return el("div", { class: "chain" }, line({ ns: wait.ns, part: wait.part, text: parts[wait.part].what + (wait.call ? " in " + wait.call : "") }),
		...wait.chain.map((link, i) => line({ ...link, text: (i ? "< " : "ended by ") + link.text })));
}

function waitsTable(bars, edges, span, most) {
	const low = span[0] < span[1] ? edges[span[0]].start : 0, high = span[0] < span[1] ? edges[span[1] - 1].end : 0;
	const inside = bars.waits.filter((wait) => wait.time_ns >= low && wait.time_ns <= high).sort((a, b) => b.ns - a.ns).slice(0, most);
	if (!inside.length)
		return el("p", { class: "empty" }, "No long waits in this span.");
	return sortable([["end"], ["took"], ["thread", "name"], ["for, and what ended it", "wide name"]], inside.map((wait) => [number(fmtSec(wait.time_ns), wait.time_ns),
		number(fmtNs(wait.ns), wait.ns), { text: wait.comm + " (" + wait.tid + ")" }, { text: "", node: chainNode(wait, bars.parts) }]));
}
