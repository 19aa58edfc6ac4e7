// SPDX-License-Identifier: BSD-2-Clause
// The page of a recording: state, the address, brushing, keys of the keyboard.
const data = loadData();
const state = { from: 0, to: 0, probe: "", by: "", filter: "", hidden: new Set(), metrics: new Set(), bars: "", waits: 10, slow: 10, open: null };
const at = (id) => document.getElementById(id);
const measured = () => data.series.filter((probe) => probe.metrics);

function wholeSpan() {
	const edges = data.edges;
	return edges.length ? [edges[0].start, edges[edges.length - 1].end] : [0, 1];
}

function isWhole() {
	const [start, end] = wholeSpan();
	return state.from <= start && state.to >= end;
}

const spanNow = () => isWhole() ? [0, data.edges.length] : spanOf(data.edges, state.from, state.to);

// ---- the address: #t=12..30&probe=iolat&by=disk ----

function readAddress() {
	const fields = new URLSearchParams(location.hash.slice(1)), [start, end] = wholeSpan();
	const time = /^([0-9.]+)\.\.([0-9.]+)$/.exec(fields.get("t") || "");
	state.from = time ? Math.round(Number(time[1]) * 1e9) : start;
	state.to = time ? Math.round(Number(time[2]) * 1e9) : end;
	if (!(state.from < state.to))
		[state.from, state.to] = [start, end];
	state.probe = measured().some((probe) => probe.name === fields.get("probe")) ? fields.get("probe") : "";
	state.by = fields.get("by") || "";
}

function writeAddress() {
	const fields = [];
	if (!isWhole())
		fields.push("t=" + state.from / 1e9 + ".." + state.to / 1e9);
	if (state.probe)
		fields.push("probe=" + encodeURIComponent(state.probe));
	if (state.by)
		fields.push("by=" + state.by);
	history.replaceState(null, "", fields.length ? "#" + fields.join("&") : location.pathname + location.search);
}

function change(what) {
	Object.assign(state, what);
	writeAddress();
	render();
}

function select(first, end) {
	const edges = data.edges;
	if (edges.length)
		change(first >= end ? { from: wholeSpan()[0], to: wholeSpan()[1] } : { from: edges[first].start, to: edges[end - 1].end });
}

function probeNow() {
	const all = measured();
	const first = findings(data.series, data.edges, [0, data.edges.length])[0];
	return all.find((probe) => probe.name === state.probe) || (first && first.probe) || all[0];
}

// ---- head ----

const LOST = 0.001; // of the events: more are worth a warning

// What is missing or wrong, in words.
function problems() {
	const report = data.report;
	const modules = report.probes.filter((probe) => probe.accounting);
	const unbalanced = modules.filter((probe) => !probe.accounting.balanced && !probe.accounting.recursion_missed);
	const lost = modules.filter((probe) => probe.accounting.lost > probe.total_events * LOST);
	const off = modules.filter((probe) => probe.accounting.kernel_check &&
		[probe.accounting.kernel_check.events, probe.accounting.kernel_check.time_ns].some((sum) => sum && !sum.agrees));
	return (report.complete ? [] : [report.running ? "still being recorded" : "cut off"])
		.concat(unbalanced.map((probe) => probe.module + ": accounting does not balance"), off.map((probe) => probe.module + ": the kernel's account disagrees"),
			lost.map((probe) => probe.module + ": " + fmtCount(probe.accounting.lost) + " events lost"));
}

function renderAbout() {
	const report = data.report, host = report.host || {}, refused = data.series.filter((probe) => probe.refused);
	const parts = [el("b", null, report.start_utc), (report.filter ? ", " + report.filter : "") + ", " + fmtSec(report.duration_sec * 1e9) +
		(host.hostname ? " of " + host.hostname : "") + ", kernel ", el("b", null, host.kernel || "unknown"),
		host.cpus_online ? ", " + host.cpus_online + " CPUs" : "", report.workload ? ", " + report.workload.command : ""];
	problems().forEach((text) => parts.push(" · ", el("span", { class: "bad" }, text)));
	refused.forEach((probe) => parts.push(" · " + probe.name + " not measured: " + probe.refused));
	clear(at("about")).append(...parts);
}

function renderBar() {
	const span = spanNow(), edges = data.edges, probe = probeNow();
	const tabs = measured().map((one, i) => el("button", { type: "button", "aria-pressed": String(one === probe), title: "key " + (i + 1),
		onclick: () => change({ probe: one.name }) }, one.name));
	const text = span[0] === span[1] ? "no interval in this time range" : fmtSec(edges[span[0]].start) + " to " + fmtSec(edges[span[1] - 1].end) +
		" (" + (span[1] - span[0]) + (data.columns.per > 1 ? " columns" : " intervals") + ")";
	clear(at("bar")).append(...tabs, el("span", { class: "span", id: "span" }, text),
		el("button", { type: "button", onclick: () => select(0, 0), disabled: isWhole() }, isWhole() ? "whole recording" : "show all (Esc)"));
}

function renderFound() {
	const found = findings(data.series, data.edges, spanNow()), box = clear(at("found"));
	const line = (one) => {
		const part = partOf(one.probe, one.pair.part), whom = one.pair.victim, share = fmtShare(one.ns, one.total);
		const text = one.other ? [el("b", null, one.pair.culprit), " slowed ", el("b", null, whom), " by " + fmtNs(one.ns)]
			: [el("b", null, whom), " lost " + fmtNs(one.ns) + (one.pair.culprit ? " to tasks of its own name" : "")];
		return el("li", { class: one.other ? null : "own" }, el("button", { type: "button", onclick: () => {
			state.probe = one.probe.name;
			select(one.core[0], one.core[1]);
		} }, ...text, ": " + part.what + " (" + share + " of the slow time of " + one.probe.name + ")  ", el("span", { class: "when" }, fmtSec(one.from) + " to " + fmtSec(one.to))));
	};
	if (isWhole())
		box.append(...(data.sentences || []).map((text) => el("p", { class: "sentence" }, text)));
	if (!data.series.some((probe) => probe.why))
		return;
	box.append(el("h2", null, "Who slowed whom"), found.length ? el("ol", null, ...found.slice(0, 6).map(line))
		: el("p", { class: "empty" }, data.series.some((probe) => probe.why && slowTime(probe, spanNow())) ? "No pair has much of the slow time of this time range."
			: "Nothing was slow in this time range."));
}

// ---- where the time went ----

const DRAG = "Drag across a chart to select a time range; everything below then covers only that range.";

// What pictures over time have in common.
function pictureOf() {
	const [start, end] = wholeSpan();
	return { start, end, edges: data.edges, span: spanNow(), width: widthOf() };
}

const splitOf = (bars) => bars.splits.find((one) => one.by === state.bars) || bars.splits[0];
const splitButtons = (bars) => el("p", null, ...bars.splits.flatMap((one) => [el("button", { type: "button",
	"aria-pressed": String(one === splitOf(bars)), onclick: () => change({ bars: one.by }) }, "by " + one.by), " "]));
const barsNow = () => data.edges.length && data.bars && data.bars.splits.length ? data.bars : null;

function renderBars() {
	const bars = barsNow(), box = clear(at("bars")), of = pictureOf();
	if (!data.edges.length || (!bars && !data.pressure))
		return;
	box.append(el("h2", null, bars ? "Where the time went" : "Pressure"), el("p", { class: "note" }, DRAG));
	if (bars)
		box.append(barsKey(bars.parts), machineRow(bars, of));
	if (data.pressure)
		box.append(pressureRow(data.pressure, of));
	box.append(timeAxisOf(of.start, of.end));
	if (!bars)
		return;
	box.append(splitButtons(bars));
	for (const bar of splitOf(bars).bars.concat(splitOf(bars).others)) {
		const text = barText(bar, bars.parts, of.span), name = bar.name || splitOf(bars).nr_others + " others";
		if (text)
			box.append(el("div", { class: "row" }, el("div", { class: "name" }, el("b", null, ...breakable(name)), " " + text),
				brush(barBand(bar, bars.parts, of, text), "time of " + name)));
	}
	box.append(timeAxisOf(of.start, of.end));
}

// ---- time line ----

// A picture that takes a span by dragging, and shows the selected one.
function brush(picture, title) {
	const [start, end] = wholeSpan(), width = widthOf(), span = spanNow(), edges = data.edges;
	const x = (ns) => LEFT + (ns - start) / (end - start) * (width - LEFT - RIGHT);
	const frame = el("div", { class: "brush", title: null, "aria-label": title }, picture);
	const column = (event) => {
		const ns = start + (event.clientX - frame.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT) * (end - start);
		const found = edges.findIndex((edge) => ns < edge.end);
		return found < 0 ? edges.length - 1 : found;
	};
	const put = (kind, left, right) => {
		const node = el("div", { class: kind });
		node.style.left = left + "px";
		node.style.width = Math.max(0, right - left) + "px";
		frame.append(node);
	};
	const show = (first, last) => {
		frame.querySelectorAll(".shade, .edge").forEach((node) => node.remove());
		put("shade", LEFT, x(edges[first].start));
		put("shade", x(edges[last].end), width - RIGHT);
		put("edge", x(edges[first].start), 0);
		put("edge", x(edges[last].end), 0);
	};
	let from = -1;
	if (!isWhole() && span[0] < span[1])
		show(span[0], span[1] - 1);
	frame.addEventListener("pointerdown", (event) => {
		from = column(event);
		frame.setPointerCapture(event.pointerId);
		event.preventDefault();
	});
	frame.addEventListener("pointermove", (event) => {
		if (from >= 0)
			show(Math.min(from, column(event)), Math.max(from, column(event)));
	});
	frame.addEventListener("pointerup", (event) => {
		const to = column(event), first = Math.min(from, to);
		from = -1;
		select(first, Math.max(first, Math.max(to, first)) + 1);
	});
	return frame;
}

function timeAxisOf(start, end) {
	const width = widthOf(), x = (ns) => LEFT + (ns - start) / Math.max(1, end - start) * (width - LEFT - RIGHT);
	const frame = svgEl("svg", { width, height: 20, "aria-hidden": "true" });
	for (const ns of timeTicks(start, end, Math.min(10, width / 80)))
		frame.append(svgEl("text", { x: x(ns), y: 14, "text-anchor": x(ns) > width - 30 ? "end" : "middle" }, fmtSec(ns)));
	return frame;
}

// Marks of the intervals in which two probes that correlate were both slow.
function correlatedStrip(start, end) {
	const width = widthOf(), x = (ns) => LEFT + (ns - start) / Math.max(1, end - start) * (width - LEFT - RIGHT);
	const bars = data.edges.map((edge, i) => data.correlated[i] === "1" ?
		"M" + x(edge.start).toFixed(1) + " 0H" + (x(edge.end) + 0.3).toFixed(1) + "V8H" + x(edge.start).toFixed(1) + "z" : "").join("");
	if (!bars)
		return null;
	return el("div", { class: "row" }, el("div", { class: "name" }, "slow together: intervals in the worst quarter of two probes that correlate"),
		svgEl("svg", { width, height: 8, role: "img", "aria-label": "Intervals in which probes were slow together" }, svgEl("path", { d: bars, fill: COLORS[4] })));
}

function rampKey() {
	const look = theme(), canvas = el("canvas", { width: 90, height: 10, role: "img", "aria-label": "colour scale" }), context = canvas.getContext("2d");
	for (let i = 0; i < 90; i++) {
		context.fillStyle = mix(look.ramp, i / 90);
		context.fillRect(i, 0, 1, 10);
	}
	return el("span", { class: "scale" }, "one event", canvas, "most (root scale); hatched: no data; ", el("span", { class: "worse" }, "▬"), " maximum");
}

const isShown = (probe, metric, i) => state.metrics.has(probe.name + "." + metric.name) !== (i === 0);

// Adds the name to the set, or removes it.
function toggleIn(set, name) {
	if (!set.delete(name))
		set.add(name);
	render();
}

function renderTime() {
	const box = clear(at("time")), [start, end] = wholeSpan();
	const buttons = measured().flatMap((probe) => probe.metrics.map((metric, i) => el("button", { type: "button", title: metric.what,
		"aria-pressed": String(isShown(probe, metric, i)), onclick: () => toggleIn(state.metrics, probe.name + "." + metric.name) }, probe.name + " " + metric.name)));
	if (data.bars && !measured().length)
		return;
	box.append(el("h2", null, "Latency over time"));
	if (!data.edges.length || !measured().length) {
		box.append(el("p", { class: "empty" }, data.edges.length ? "No probe measured anything." : "The recording has no interval."));
		return;
	}
	box.append(el("p", { class: "note" }, at("bars").firstChild ? "" : DRAG + " ", rampKey()));
	if (data.columns.per > 1)
		box.append(el("p", { class: "note", id: "thinned" }, fmtCount(data.columns.intervals) + " intervals: " + data.columns.per +
			" are one column. Sums and maxima are kept."));
	box.append(el("div", { class: "legend" }, ...buttons));
	for (const probe of measured()) {
		probe.metrics.forEach((metric, i) => {
			if (!isShown(probe, metric, i))
				return;
			const title = probe.name + " " + metric.name + ": " + metric.what;
			box.append(el("div", { class: "row" }, el("div", { class: "name" }, el("b", null, probe.name + " " + metric.name), " " + metric.what),
				brush(heatMap({ columns: metric.columns, edges: data.edges, scale: heatScale([metric.columns]), title: "Heat map of " + title, start, end }), title)));
		});
	}
	box.append(correlatedStrip(start, end) || "", timeAxisOf(start, end), ...correlationNotes(data.report));
}

// ---- the chosen probe ----

const seconds = (span) => span[0] < span[1] ? (data.edges[span[1] - 1].end - data.edges[span[0]].start) / 1e9 : 0;

function renderWhy(box, probe, span) {
	const of = pictureOf();
	box.append(el("h3", null, "Why " + probe.name + " was slow"));
	if (isWhole() && probe.why.conclusion)
		box.append(el("p", null, probe.why.conclusion));
	box.append(partsPicture(probe, of, state.hidden, (name) => toggleIn(state.hidden, name)), timeAxisOf(of.start, of.end),
		el("h3", null, "Who made whom wait"), matrix(probe, span));
}

function renderKeys(box, probe, span) {
	const splits = [...new Set(probe.keys.map((key) => key.by))];
	const by = splits.includes(state.by) ? state.by : splits[0];
	const table = el("div", null, keysTable(probe, by, span, state.filter));
	if (!splits.length)
		return;
	const type = (event) => {
		state.filter = event.target.value.toLowerCase();
		clear(table).append(keysTable(probe, by, span, state.filter));
		fitTables();
	};
	box.append(el("h3", null, probe.name + ": " + probe.metrics[0].what), el("p", { class: "buttons" }, ...splits.map((split) => el("button", { type: "button",
		"aria-pressed": String(split === by), onclick: () => change({ by: split }) }, "by " + split)),
	el("input", { type: "search", id: "filter", placeholder: "filter by name (/)", value: state.filter, "aria-label": "filter by name", oninput: type })), table);
}

function renderWho() {
	const box = clear(at("who")), probe = probeNow(), span = spanNow(), bars = barsNow();
	if (bars || probe)
		box.append(el("h2", null, "Who waited"));
	if (bars)
		box.append(waitersTable(splitOf(bars), bars.parts, span, isWhole()));
	if (!probe)
		return;
	renderKeys(box, probe, span);
	if (probe.why)
		renderWhy(box, probe, span);
}

function renderSlow() {
	const box = clear(at("slow")), probe = probeNow(), span = spanNow(), bars = barsNow(), more = (what) => () => change({ [what]: state[what] + 10 });
	if (probe && probe.why)
		box.append(el("h2", null, "Slow events of " + probe.name), slowTable(probe, data.edges, span, state.slow, more("slow")));
	if (bars)
		box.append(el("h2", null, "Longest waits, and what ended them"), waitsTable(bars, data.edges, span, state.waits, more("waits")));
}

function renderDetail() {
	const box = clear(at("detail")), probe = probeNow(), span = spanNow();
	if (!probe)
		return;
	const hists = probe.metrics.map((metric) => sumSpan(metric.columns, span));
	const lines = probe.metrics.map((metric, i) => ({ name: metric.name, hist: hists[i], color: COLORS[i] }));
	if (!isWhole())
		lines.push({ name: probe.metrics[0].name + ", whole recording", hist: sumSpan(probe.metrics[0].columns, [0, data.edges.length]), color: COLORS[7], dashed: true });
	box.append(el("h2", null, "Percentiles of " + probe.name + (isWhole() ? "" : ", " + at("span").textContent)), metricsTable(probe, hists, seconds(span)),
		percentileCurve(lines, "Percentiles of " + probe.name),
		el("p", { class: "legend" }, ...lines.map((line) => el("span", null, el("i", { class: "swatch c" + COLORS.indexOf(line.color) }), line.name))),
		el("p", { class: "note" }, "The band is what a histogram leaves open: 1/32 of the value."));
}

// Folded, unless something is missing; or as the reader left it.
function renderMethod() {
	const box = clear(at("method")), probe = probeNow(), module = probe && data.report.probes.find((one) => one.module === probe.name);
	const wrong = problems().concat(data.series.filter((one) => one.refused).map((one) => one.name + " not measured"));
	const lost = module && module.accounting && module.accounting.lost, few = lost ? ": " + fmtCount(lost) + " events lost" : ": all events are accounted for";
	const fold = el("details", { open: state.open === null ? wrong.length > 0 : state.open, ontoggle: () => { state.open = fold.open; fitTables(); } },
		el("summary", null, wrong.length ? wrong.join("; ") : "Accounting, method and host" + (probe ? few : "")));
	if (probe)
		fold.append(el("h3", null, "Accounting of " + probe.name), accountingTable(probe, probe.metrics.map((metric) => sumSpan(metric.columns, spanNow())), data.counts));
	fold.append(...aboutTables(data.report, module));
	box.append(el("h2", null, "Accounting and method"), fold);
}

function render() {
	[renderAbout, renderBar, renderFound, renderBars, renderTime, renderWho, renderSlow, renderDetail, renderMethod, fitTables].forEach((step) => step());
}

// ---- keyboard ----

function move(by, grow) {
	const span = spanNow(), last = data.edges.length, width = span[1] - span[0];
	const first = Math.min(Math.max(0, span[0] + by), last - 1);
	if (isWhole())
		select(by > 0 ? 0 : last - 1, by > 0 ? 1 : last);
	else if (grow)
		select(span[0], Math.min(last, Math.max(span[0] + 1, span[1] + by)));
	else
		select(Math.min(first, last - width), Math.min(first, last - width) + width);
}

function onKey(event) {
	const probe = measured()[Number(event.key) - 1];
	if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "Escape")
		select(0, 0);
	else if (event.key === "ArrowRight" || event.key === "ArrowLeft")
		move(event.key === "ArrowRight" ? 1 : -1, event.shiftKey);
	else if (event.key === "/" && at("filter"))
		at("filter").focus();
	else if (probe)
		change({ probe: probe.name });
	else
		return;
	event.preventDefault();
}

function start() {
	document.documentElement.classList.add("js");
	at("live").hidden = false;
	if (data.kind === "compare") {
		comparePage(data);
		return;
	}
	readAddress();
	render();
	window.addEventListener("hashchange", () => { readAddress(); render(); });
	window.addEventListener("keydown", onKey);
	window.addEventListener("resize", render);
	darkQuery.addEventListener("change", render);
	// Paper is light. Chromium 156 prints no text on the first page after a render here, so only if needed.
	["beforeprint", "afterprint"].forEach((event) => window.addEventListener(event, () => darkQuery.matches && render()));
}

start();
