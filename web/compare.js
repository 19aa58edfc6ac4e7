// SPDX-License-Identifier: BSD-2-Clause
// The page of a comparison: verdicts in words, percentiles of both groups, heat maps in one scale, their difference.
const SIDES = ["OFF", "ON"];

function prepareGroups(all) {
	const edges = Array.from({ length: all.columns }, (_, i) => ({ start: i * all.width_ns, end: (i + 1) * all.width_ns }));
	for (const group of all.groups) {
		group.edges = edges.slice(0, group.columns);
		for (const metric of group.metrics)
			metric.columns = readSeries(metric.cells, "key");
	}
	return edges;
}

function valueText(one, value) {
	if (value === null)
		return "–";
	return one.unit === "us" ? fmtNs(value * 1000) : one.unit === "share" ? fmtShare(value, 1) : fmtRate(value) + "/s";
}

function ratioText(one) {
	const times = (ratio) => ratio === null ? "?" : "×" + (ratio >= 1000 || ratio < 0.01 ? ratio.toExponential(1) : ratio.toFixed(2));
	return one.ratio === null ? "–" : times(one.ratio) + (one.ratio_low === null ? "" : " (" + times(one.ratio_low) + " to " + times(one.ratio_high) + ")");
}

// The interval of ON / OFF on a log axis from a tenth to ten times; the line in the middle is "the same".
function ratioPicture(one) {
	const width = 180, x = (ratio) => Math.max(0, Math.min(width, width / 2 + Math.log10(Math.max(1e-9, ratio)) * width / 2));
	const frame = svgEl("svg", { width, height: 16, role: "img", "aria-label": ratioText(one) }, svgEl("line", { x1: width / 2, x2: width / 2, y1: 0, y2: 16, class: "grid" }));
	const color = one.verdict === "worse" ? COLORS[4] : one.verdict === "better" ? COLORS[2] : COLORS[7];
	if (one.ratio_low !== null && one.ratio !== null)
		frame.append(svgEl("line", { x1: x(one.ratio_low), x2: x(one.ratio_high), y1: 8, y2: 8, stroke: color, "stroke-width": 3 }));
	if (one.ratio !== null)
		frame.append(svgEl("circle", { cx: x(one.ratio), cy: 8, r: 4, fill: color }));
	return frame;
}

const nameOf = (row) => row.probe + " " + row.metric + (row.key ? ", " + row.by + " " + row.key : "");

function verdictTable(row) {
	const rows = row.statistics.map((one) => [{ text: one.statistic }, number(valueText(one, one.off), one.off), number(valueText(one, one.on), one.on),
		{ text: ratioText(one), value: one.ratio === null ? 0 : one.ratio }, { node: ratioPicture(one), text: "", value: one.ratio },
		{ text: "", node: el("span", { class: one.verdict }, one.verdict || "not tested") }, { text: one.reason || "" }]);
	return sortable([["statistic", "name"], ["OFF"], ["ON"], ["ON / OFF (interval)"], ["a tenth – the same – ten times", "name"], ["verdict", "name keep"], ["note", "name"]], rows);
}

// "p99 of iolat device is worse: 1.2 ms, then 3.4 ms, ×2.8 (×2.1 to ×3.7)"
function verdictLines(compare) {
	const lines = [];
	for (const row of compare.comparisons)
		for (const one of row.statistics)
			if (["worse", "better", "more", "fewer"].includes(one.verdict))
				lines.push(el("li", null, el("b", { class: one.verdict }, one.verdict), " " + one.statistic + " of " + nameOf(row) + ": " +
					valueText(one, one.off) + " OFF, " + valueText(one, one.on) + " ON, " + ratioText(one)));
	return lines;
}

// "WORSE: iolat device, p99 ×2.8 [2.1, 3.7]: 1.2 ms OFF, 3.4 ms ON; 4 more worse": the largest difference of the gravest kind, of a whole probe if there is one.
function headline(compare) {
	const all = compare.comparisons.flatMap((row) => row.statistics.map((one) => ({ ...one, row }))), size = (one) => Math.abs(Math.log(one.ratio || 1e9));
	const kind = ["worse", "better", "more", "fewer"].find((name) => all.some((one) => one.verdict === name)), found = all.filter((one) => one.verdict === kind);
	const [first] = found.sort((a, b) => Boolean(a.row.key) - Boolean(b.row.key) || size(b) - size(a)), short = (ratio) => String(Number(ratio.toPrecision(2)));
	if (!kind)
		return compare.verdicts.no_difference_shown ? ["", "NO DIFFERENCE shown at " + Number((compare.confidence * 100).toPrecision(4)) + " % confidence"] : ["", "CANNOT TELL"];
	const interval = first.ratio_low === null || first.ratio === null ? "" : " ×" + short(first.ratio) + " [" + short(first.ratio_low) + ", " + short(first.ratio_high) + "]";
	const better = kind === "worse" && compare.verdicts.better ? "; " + compare.verdicts.better + " better" : "";
	return [kind, kind.toUpperCase() + ": " + nameOf(first.row) + ", " + first.statistic + interval + ": " + valueText(first, first.off) + " OFF, " + valueText(first, first.on) + " ON" +
		(found.length > 1 ? "; " + (found.length - 1) + " more " + kind : "") + better];
}

// Warnings that differ only in the recording are one line, with their number.
function warningLines(compare) {
	const paths = compare.off.concat(compare.on).map((one) => one.path).sort((a, b) => b.length - a.length), counts = new Map();
	for (const text of compare.warnings) {
		const same = paths.reduce((all, path) => all.split(path).join("(recording)"), text), one = counts.get(same) || { nr: 0, text };
		counts.set(same, { nr: one.nr + 1, text: one.nr ? same : text });
	}
	return [...counts.values()].map((one) => ["warning", one.text + (one.nr > 1 ? " (" + one.nr + " times)" : "")]);
}

// The share of events in each cell, ON minus OFF: orange where ON has more, blue where it has fewer.
function differencePicture(off, on, edges, scale, end, title) {
	const all = [off, on].map((metric) => Math.max(1, sumSpan(metric.columns, [0, metric.columns.length]).n));
	const shares = new Map(), columns = edges.map((_, i) => ({ slots: [], n: 1, i }));
	let most = 1e-9;
	[off, on].forEach((metric, side) => metric.columns.forEach((cell, i) => {
		for (let s = 0; cell && s < cell.slots.length; s += 2) {
			const id = i + " " + ROW_OF[cell.slots[s]];
			if (!shares.has(id)) {
				shares.set(id, 0);
				columns[i].slots.push(cell.slots[s], 1);
			}
			shares.set(id, shares.get(id) + (side ? 1 : -1) * cell.slots[s + 1] / all[side]);
		}
	}));
	shares.forEach((share) => { most = Math.max(most, Math.abs(share)); });
	const dark = darkQuery.matches, ramp = (share) => mix(share > 0 ? [dark ? "#2a2019" : "#fbeee3", "#d55e00"] : [dark ? "#16242f" : "#e4eff7", "#0072b2"],
		Math.sqrt(Math.abs(share) / most));
	return heatMap({ columns: columns.slice(0, Math.max(off.columns.length, on.columns.length)), edges, scale, title, start: 0, end, color: (_, i, row) => ramp(shares.get(i + " " + row) || 0),
		lines: (i, row) => ["share of the group's events, ON minus OFF: " + (100 * (shares.get(i + " " + row) || 0)).toPrecision(2) + " %"] });
}

function whyChanges(compare, probe) {
	const one = (compare.why || []).find((why) => why.probe === probe), tasks = (ns) => ns === null ? { text: "–" } : number(String(Number((ns / 1e9).toPrecision(2))), ns);
	if (!one)
		return [];
	return [el("h3", null, "Why"), el("p", null, one.conclusion), sortable([["part", "name"], ["culprit", "name"], ["OFF: tasks that waited, on average"], ["ON"]],
		one.parts.concat(one.culprits).map((part) => [{ text: part.part || "(others)" }, { text: part.culprit || "–" }, tasks(part.off_ns_per_sec), tasks(part.on_ns_per_sec)]))];
}

function compareMetric(all, edges, at, box) {
	const metrics = all.groups.map((group) => group.metrics[at]), title = metrics[0].probe + " " + metrics[0].name;
	const end = all.columns * all.width_ns, scale = heatScale(metrics.map((metric) => metric.columns));
	const hists = metrics.map((metric) => sumSpan(metric.columns, [0, metric.columns.length]));
	const rows = all.compare.comparisons.filter((row) => row.probe === metrics[0].probe && row.metric === metrics[0].name);
	const lines = hists.map((hist, side) => ({ name: SIDES[side], hist, color: COLORS[side ? 4 : 0] }));
	const row = (name, picture) => el("div", { class: "row" }, el("div", { class: "name" }, el("b", null, name), " " + metrics[0].what), picture);
	box.append(el("h2", { id: "m" + at }, title), el("div", null, ...rows.filter((one) => !one.key).map(verdictTable)),
		el("h3", null, "Percentiles"), percentileCurve(lines, "Percentiles of " + title + ", both groups"),
		el("p", { class: "legend" }, ...lines.map((line) => el("span", null, el("i", { class: "swatch c" + COLORS.indexOf(line.color) }), line.name))),
		el("h3", null, "Over time, in one scale"));
	metrics.forEach((metric, side) => box.append(row(SIDES[side], heatMap({ columns: metric.columns, edges: all.groups[side].edges, scale,
		title: "Heat map of " + title + " " + SIDES[side], start: 0, end }))));
	box.append(row("ON minus OFF", differencePicture(metrics[0], metrics[1], edges, scale, end, "Difference of " + title)), timeAxisOf(0, end),
		...whyChanges(all.compare, at && all.groups[0].metrics[at - 1].probe === metrics[0].probe ? "" : metrics[0].probe),
		...rows.filter((one) => one.key).flatMap((one) => [el("h3", null, one.by + " " + one.key), verdictTable(one)]));
}

function renderCompare(all, edges) {
	const compare = all.compare, lines = verdictLines(compare), counts = Object.entries(compare.verdicts).filter(([, nr]) => nr);
	const about = (side) => compare[side].map((one) => one.path + " (" + one.start_utc + ", " + fmtSec(one.duration_sec * 1e9) + ")").join(", ");
	const box = clear(document.getElementById("detail"));
	clear(document.getElementById("about")).append(el("b", null, "comparison"), ": " + counts.map(([name, nr]) => nr + " " + name.replace(/_/g, " ")).join(", "));
	const [kind, text] = headline(compare);
	clear(document.getElementById("found")).append(el("p", { class: "verdict " + kind, id: "verdict" }, text),
		lines.length ? el("h2", null, "What changed from OFF to ON") : "", lines.length ? el("ul", { class: "verdicts" }, ...lines) : "",
	pairs([["OFF", about("off")], ["ON", about("on")], ["observations", compare.observation === "run" ? "runs" : "batches of intervals of a run; the variation from run to run is assumed, not measured"],
		...warningLines(compare), ...compare.not_compared.map((one) => ["not compared", one.probe + ": " + one.reason])]));
	clear(document.getElementById("time")).append(el("p", { class: "note" }, rampKey()));
	all.groups[0].metrics.forEach((_, at) => compareMetric(all, edges, at, box));
	clear(document.getElementById("bar")).append(...all.groups[0].metrics.map((metric, at) => el("button", { type: "button",
		onclick: () => document.getElementById("m" + at).scrollIntoView() }, metric.probe + " " + metric.name)));
	fitTables();
}

function comparePage(all) {
	const edges = prepareGroups(all), show = () => renderCompare(all, edges);
	show();
	window.addEventListener("resize", show);
	darkQuery.addEventListener("change", show);
}
