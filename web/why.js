// SPDX-License-Identifier: BSD-2-Clause
// Why samples were slow, in a span: parts over time, who made whom wait, the slowest events.
function sumOf(columns, span) {
	let sum = 0;
	for (let i = span[0]; i < Math.min(span[1], columns.length); i++)
		sum += columns[i] ? columns[i].sum : 0;
	return sum;
}

// The columns that have all of it but 2 % at each end.
function coreSpan(columns, span) {
	const all = sumOf(columns, span);
	let first = span[0], end = span[1], cut = 0;
	while (first < end && (cut += columns[first] ? columns[first].sum : 0) < all * 0.02)
		first++;
	cut = 0;
	while (end - 1 > first && (cut += columns[end - 1] ? columns[end - 1].sum : 0) < all * 0.02)
		end--;
	return [first, end];
}

const partOf = (probe, name) => probe.why.parts.find((part) => part.name === name) || { name, what: name };

// "batch (7)" without its ID.
const bare = (name) => name.replace(/ \(\d+\)$/, "");

// "batch (3 tasks)" without their number, too.
const bareGroup = (name) => bare(name.replace(/ \(\d+ tasks\)$/, ""));

// Who slowed whom, and when: pairs of this span with a culprit, and the largest part without one; the most time first, those in
// which a culprit waited last.
function findings(series, edges, span) {
	const found = [], culprits = new Set((data.bars ? data.bars.splits[0].bars : []).filter((bar) => bar.culprit).map((bar) => bareGroup(bar.name)));
	const other = (one) => one.pair.culprit && bare(one.pair.culprit) !== bare(one.pair.victim);
	const named = (one) => ![one.victim, one.culprit].some((name) => name && bare(name) === "(other)");
	for (const probe of series.filter((one) => one.why)) {
		const total = slowTime(probe, span);
		const all = probe.why.pairs.filter(named).map((pair) => ({ probe, pair, ns: sumOf(pair.columns, span), total })).filter((one) => one.ns);
		found.push(...all.filter(other).filter((one) => one.ns > total * 0.01).sort((a, b) => b.ns - a.ns).slice(0, 3));
		found.push(...all.filter((one) => !other(one) && one.ns > total * 0.25).sort((a, b) => b.ns - a.ns).slice(0, 1));
	}
	const most = Math.max(...found.map((one) => one.ns));
	return found.filter((one) => one.ns * 200 >= most).map((one) => {
		const core = coreSpan(one.pair.columns, span);
		return { ...one, core, other: Boolean(other(one)),
			from: edges[core[0]].start, to: edges[core[1] - 1].end };
	}).sort((a, b) => culprits.has(bare(a.pair.victim)) - culprits.has(bare(b.pair.victim)) || b.ns - a.ns);
}

// How much of each part there is at a time, on average: stacked. of: {start, end, edges, span, width}.
function stackPicture(parts, of, title) {
	const height = 120, rate = (part, i) => part.columns[i] ? part.columns[i].sum / Math.max(1, of.edges[i].end - of.edges[i].start) : 0;
	const totals = of.edges.map((_, i) => parts.reduce((sum, part) => sum + rate(part, i), 0));
	const most = Math.max(1e-9, ...totals), x = (ns) => LEFT + (ns - of.start) / Math.max(1, of.end - of.start) * (of.width - LEFT - RIGHT);
	const base = of.edges.map(() => 0), frame = svgEl("svg", { width: of.width, height, role: "img", "aria-label": title },
		svgEl("rect", { x: LEFT, width: of.width - LEFT - RIGHT, height, class: "back" }));
	for (const part of parts) {
		const bars = of.edges.map((edge, i) => {
			const low = base[i];
			base[i] += rate(part, i);
			return base[i] === low ? "" : "M" + x(edge.start).toFixed(1) + " " + ((1 - low / most) * height).toFixed(1) + "H" +
				(x(edge.end) + 0.3).toFixed(1) + "V" + ((1 - base[i] / most) * height).toFixed(1) + "H" + x(edge.start).toFixed(1) + "z";
		});
		frame.append(svgEl("path", { d: bars.join(""), fill: COLORS[part.color] }, svgEl("title", null, part.what)));
	}
	frame.append(svgEl("text", { x: LEFT - 6, y: 11, "text-anchor": "end" }, digits(most)), svgEl("text", { x: LEFT - 6, y: height - 2, "text-anchor": "end" }, "0"));
	hoverColumns(frame, of, (at) => parts.filter((part) => rate(part, at)).map((part) => part.name + ": " + digits(rate(part, at)) + ", " + fmtNs(part.columns[at].sum)));
	return brush(frame, title);
}

// Lines of a column under the pointer.
function hoverColumns(frame, of, lines) {
	frame.addEventListener("pointermove", (event) => {
		const ns = of.start + (event.clientX - frame.getBoundingClientRect().left - LEFT) / (of.width - LEFT - RIGHT) * (of.end - of.start);
		const at = of.edges.findIndex((edge) => ns >= edge.start && ns < edge.end);
		hint(event, at < 0 ? null : [fmtSec(of.edges[at].start) + " to " + fmtSec(of.edges[at].end)].concat(lines(at)));
	});
	frame.addEventListener("pointerleave", () => hint());
}

// Slow time by part. Parts in `hidden` are left out.
function partsPicture(probe, of, hidden, toggle) {
	const parts = probe.why.parts.map((part, i) => ({ ...part, color: i % COLORS.length })).filter((part) => part.columns.some((cell) => cell));
	return el("div", null, el("div", { class: "legend" }, ...parts.map((part) => el("button", {
		type: "button", "aria-pressed": String(!hidden.has(part.name)), onclick: () => toggle(part.name) },
	el("i", { class: "swatch c" + part.color }), part.what + " ", el("b", null, fmtNs(sumOf(part.columns, of.span)))))),
	stackPicture(parts.filter((part) => !hidden.has(part.name)), of, "Slow at a time, on average"));
}

const total = (map, key, ns) => map.set(key, (map.get(key) || 0) + ns);
const largest = (map, most) => [...map].filter(([, ns]) => ns).sort((a, b) => b[1] - a[1]).slice(0, most).map(([key]) => key);

const slowTime = (probe, span) => probe.why.parts.reduce((sum, part) => sum + sumOf(part.columns, span), 0);

// What the matrix leaves out, in a sentence.
function leftOut(probe, span, left, all) {
	const others = sumOf(probe.why.othersColumns, span);
	return left && el("p", { class: "note", id: "left-out" }, "Not shown: " + fmtNs(left) + " (" + fmtShare(left, all) + ") of victims and culprits with less" +
		(others ? "; " + fmtNs(others) + " of that is of pairs that are not among the " + probe.why.pairs.length + " largest of the whole recording." : "."));
}

// Victims in lines, culprits in columns, the share of the slow time in cells.
function matrix(probe, span) {
	const cells = new Map(), victims = new Map(), culprits = new Map(), all = slowTime(probe, span);
	for (const pair of probe.why.pairs) {
		const ns = sumOf(pair.columns, span), culprit = pair.culprit || "nobody: " + pair.part;
		total(victims, pair.victim, ns);
		total(culprits, culprit, ns);
		total(cells, pair.victim + "\n" + culprit, ns);
	}
	const down = largest(victims, 10), across = largest(culprits, 9);
	const table = down.flatMap((victim) => across.map((culprit) => cells.get(victim + "\n" + culprit) || 0));
	const most = Math.max(1, ...table), shown = table.reduce((sum, ns) => sum + ns, 0);
	if (!all)
		return el("p", { class: "empty" }, "Nothing was slow in this time range.");
	return el("div", { class: "scroll" }, el("table", { class: "matrix" }, el("caption", null, "A line for each that waited, a column for each that caused it: share of " +
		fmtNs(all) + " of slow time"), el("thead", null, el("tr", null, el("td"), ...across.map((name) => el("th", { scope: "col" }, ...breakable(name))))),
	el("tbody", null, ...down.map((victim) => el("tr", null, el("th", { scope: "row" }, ...breakable(victim)), ...across.map((culprit) => {
		const ns = cells.get(victim + "\n" + culprit) || 0, level = ns ? Math.ceil(Math.sqrt(ns / most) * 5) : 0;
		return el("td", { class: "m" + level, "data-value": ns, title: fmtNs(ns) + ": " + victim + " because of " + culprit },
			ns ? fmtShare(ns, all) : "");
	}))))), leftOut(probe, span, all - shown, all) || null);
}

const moreButton = (left, more) => left > 0 ? el("button", { type: "button", class: "more", onclick: more }, "more (" + fmtCount(left) + ")") : null;

// The thread that waited, or who made it wait.
function stackOwner(event) {
	const culprit = event.culprits.find(([name]) => name.endsWith(" (" + event.stack_tid + ")"));
	return event.stack_tid === event.tid ? event.comm + " (" + event.tid + ")" : culprit ? culprit[0] + ", which made it wait" : "thread " + event.stack_tid;
}

function stackNode(event) {
	const part = (title, frames) => frames.length ? el("div", null, el("b", null, title), el("pre", null, frames.join("\n"))) : null;
	if (!event.kernel.length && !event.user.length)
		return { text: "–", node: el("span", null, "–") };
	return { text: "", node: el("details", null, el("summary", null, (event.kernel[0] || event.user[0])),
		el("div", null, "stack of " + stackOwner(event)), part("kernel", event.kernel), part("user", event.user)) };
}

function slowTable(probe, edges, span, most, more) {
	const low = span[0] < span[1] ? edges[span[0]].start : 0, high = span[0] < span[1] ? edges[span[1] - 1].end : 0;
	const inside = probe.why.slow.filter((event) => event.time_ns >= low && event.time_ns <= high).sort((a, b) => b.ns - a.ns);
	const shown = inside.slice(0, most), rows = shown.map((event) => {
		const parts = Object.entries(event.parts).filter(([, ns]) => ns * 200 >= event.ns).sort((a, b) => b[1] - a[1]);
		const request = event.disk ? event.op + " of " + fmtCount(event.bytes) + " bytes on " + event.disk : "";
		return [number(fmtSec(event.time_ns), event.time_ns), number(fmtNs(event.ns), event.ns),
			{ text: event.process, title: "thread " + event.comm + " (" + event.tid + "), " + event.cgroup }, number(String(event.cpu), event.cpu),
			{ text: parts.map(([name, ns]) => name + " " + fmtNs(ns)).join(", "), title: parts.map(([name]) => partOf(probe, name).what).join("; ") },
			{ text: event.culprits.map(([name, , ns]) => name + " " + fmtNs(ns)).join(", ") || "–" },
			{ text: request || (event.waker ? "woken up by " + event.waker : "–") }, stackNode(event)];
	});
	if (!rows.length)
		return el("p", { class: "empty" }, "No slow events in this time range.");
	return el("div", null, sortable([["end"], ["took"], ["who", "name"], ["CPU"], ["parts", "name"], ["because of", "name"], ["what", "name"], ["stack", "name"]], rows),
		moreButton(inside.length - shown.length, more), inside.length > shown.length ? null : el("p", { class: "note" },
			"The slowest of each fortieth of the recording are kept: these are all in this time range."));
}
