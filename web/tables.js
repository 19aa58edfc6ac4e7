// SPDX-License-Identifier: BSD-2-Clause
// Numbers of a span: metrics, keys, accounting; and what is known of the whole recording.
const number = (text, value, title) => ({ text, value, title });
const latency = (hist, ns, title) => hist.n ? number(fmtNs(ns), usValue(ns), title) : { text: "–" };

function metricsTable(probe, hists, seconds) {
	const columns = [["metric", "name"], ["events"], ["per second"], ...QUANTILES.map(([name]) => [name]), ["max"], ["mean"], ["tail"]];
	const rows = probe.metrics.map((metric, i) => {
		const hist = hists[i];
		return [{ text: metric.name, title: metric.what }, number(fmtCount(hist.n), hist.n),
			number(seconds ? fmtRate(hist.n / seconds) : "–", seconds ? hist.n / seconds : 0),
			...QUANTILES.map(([, q]) => latency(hist, quantile(hist, q))), latency(hist, hist.max), latency(hist, mean(hist)),
			number(hist.n ? fmtShare(hist.tail, hist.n) : "–", hist.tail, fmtCount(hist.tail) + " events")];
	});
	return sortable(columns, rows);
}

// Bars of the time waited in each column: small multiples with one scale.
function spark(columns, most, span) {
	const width = 240, height = 26, frame = svgEl("svg", { class: "spark", viewBox: "0 0 " + width + " " + height, "aria-hidden": "true" });
	const step = width / Math.max(1, columns.length);
	const bar = (cell, i) => "M" + (i * step).toFixed(1) + " " + height + "v-" +
		Math.max(1, Math.sqrt(cell.sum / most) * height).toFixed(1) + "h" + Math.max(0.8, step).toFixed(2) + "V" + height + "z";
	const path = (inside) => columns.map((cell, i) =>
		cell && cell.sum && (i >= span[0] && i < span[1]) === inside ? bar(cell, i) : "").join("");
	frame.append(svgEl("path", { d: path(false), class: "off" }), svgEl("path", { d: path(true), class: "on" }));
	return frame;
}

// The groups of columns that keys have their slots of, as [first, behind the last]; one at least.
function groupsOf(span, group, columns) {
	const first = Math.round(span[0] / group), end = span[1] === columns ? Math.ceil(columns / group) : Math.round(span[1] / group);
	const middle = Math.floor((span[0] + span[1]) / 2 / group);
	return first < end ? [first, end] : [middle, middle + 1];
}

// The percentiles of a key are of groups of columns if the recording is long: of what time, where that is not the time range.
function groupsNote(groups, span, group, edges) {
	const first = groups[0] * group, end = Math.min(edges.length, groups[1] * group);
	return first === span[0] && end === span[1] ? null : el("p", { class: "note", id: "groups" }, "The percentiles are of " + fmtSec(edges[first].start) + " to " +
		fmtSec(edges[end - 1].end) + "; of exactly this range: latscope report --from --to.");
}

function keysTable(probe, by, span, filter) {
	const keys = probe.keys.filter((key) => key.by === by && key.name.toLowerCase().includes(filter)), groups = groupsOf(span, data.group, data.edges.length);
	const found = keys.map((key) => {
		const slots = sumSpan(key.groups, key.columns ? groups : span);
		return { key, slots, hist: key.columns ? sumSpan(key.columns, span) : slots };
	}).filter((one) => one.hist.n);
	const total = sumSpan(probe.metrics[0].columns, span).sum;
	const most = Math.max(1, ...keys.flatMap((key) => key.name === "(other)" ? [] : (key.columns || key.groups).map((cell) => cell ? cell.sum : 0)));
	const columns = [[by, "name"], ["time waited"], ["share"], ["events"], ["mean"], ["p50"], ["p99"], ["max"], ["over time (root scale)", "name"]];
	const rows = found.sort((a, b) => b.hist.sum - a.hist.sum).map(({ key, slots, hist }) => {
		const of = (q) => latency(slots, quantile(slots, q));
		return [{ text: key.name }, number(fmtNs(hist.sum), hist.sum), number(fmtShare(hist.sum, total), hist.sum),
			number(fmtCount(hist.n), hist.n), latency(hist, mean(hist)), of(0.5), of(0.99), latency(hist, hist.max),
			{ node: spark(key.columns || key.groups, most, span), text: "", value: hist.sum }];
	});
	const left = probe.left_out[by];
	if (!rows.length)
		return el("p", { class: "empty" }, "Nothing waited in this time range.");
	return el("div", null, sortable(columns, rows), data.group > 1 ? groupsNote(groups, span, data.group, data.edges) : null,
		left ? el("p", { class: "note" }, fmtCount(left) + " more with less time in the whole recording; --top N keeps more.") : null);
}

// The conservation line of each metric in the span.
function accountingTable(probe, hists, counts) {
	const rows = probe.metrics.map((metric, i) => {
		const of = (name) => hists[i].counts[counts.findIndex((count) => count.name === name)] || 0;
		const terms = counts.filter((count) => count.term && of(count.name));
		const sum = terms.reduce((all, count) => all + of(count.name), hists[i].n);
		const others = counts.filter((count) => count.name && !count.term && !count.name.endsWith("_ns") && count.name !== "seen" && of(count.name));
		return [{ text: metric.name }, number(fmtCount(of("seen")), of("seen")), number(fmtCount(hists[i].n), hists[i].n),
			{ text: terms.map((count) => fmtCount(of(count.name)) + " " + count.name).join(", ") || "none" },
			{ text: of("seen") === sum ? "balances" : "does not balance: off by " + fmtCount(of("seen") - sum) },
			{ text: others.map((count) => fmtCount(of(count.name)) + " " + count.name).join(", ") || "–" }];
	});
	return sortable([["metric", "name"], ["seen"], ["recorded"], ["not recorded", "name"], ["accounting", "name"], ["also counted", "name"]], rows);
}

function checkText(check) {
	const one = (sum, name) => !sum ? null : name + (sum.agrees ? " agree" : " DISAGREE: off by " + fmtCount(sum.off)) +
		" (" + fmtSigned(sum.off_share) + ")";
	if (!check)
		return "the kernel has no account of this, or it belongs to the whole recording";
	return [check.source, one(check.events, "events"), one(check.time_ns, "time"), check.reason].filter(Boolean).join("; ");
}

function costText(cost) {
	if (!cost)
		return "not measured";
	return cost.ns_per_event === null ? "too few events to measure" : cost.ns_per_event + " ns per event, " +
		(cost.cpu_share * 100).toFixed(2) + " % of one CPU (timed over " + fmtCount(cost.events) + " events)";
}

function inFlightText(accounting) {
	const flight = accounting && accounting.in_flight;
	if (!flight)
		return "known only for the whole recording";
	return flight.count + (flight.count && flight.oldest_us !== null ? ", the oldest since " + fmtNs(flight.oldest_us * 1000) : "");
}

function pairs(list) {
	return el("dl", null, ...list.filter(([, text]) => text !== null && text !== undefined && text !== "")
		.flatMap(([name, text]) => [el("dt", null, name), el("dd", null, String(text))]));
}

function aboutTables(report, module) {
	const host = report.host || {}, known = ["latscope", "kernel", "kernel_version", "arch", "cpu_model", "cpus_online", "memory_kb",
		"hypervisor", "clocksource"];
	const labels = Object.entries(report.labels || {}).map(([key, value]) => ["label " + key, value]);
	const parts = [];
	if (module && module.mechanism)
		parts.push(el("h3", null, "Method, check and cost (whole recording)"), pairs([["method", module.mechanism.method],
			["how", module.mechanism.text], ["kernel check", checkText(module.accounting && module.accounting.kernel_check)],
			["cost", costText(module.mechanism.cost)], ["in flight at end", inFlightText(module.accounting)],
			["lost", module.accounting && module.accounting.lost !== null ? fmtCount(module.accounting.lost) : null]]));
	parts.push(el("h3", null, "Recording and host"), pairs([["start", report.start_utc], ["duration", fmtSec(report.duration_sec * 1e9)],
		["workload", report.workload && report.workload.command], ["filter", report.filter],
		["complete", report.complete ? "yes" : report.running ? "no, it was still being recorded" : "no, it was cut off"], ...labels,
		...known.map((name) => [name.replace("_", " "), host[name]])]));
	return parts;
}

const PRESSURES = { cpu_some_ns: "CPU pressure", memory_some_ns: "memory pressure", io_some_ns: "I/O pressure" };
const pressureName = (column) => PRESSURES[column] || column.replace(/_ns$/, "").replace(/_/g, " ");
const isFound = (one) => /^(positive|negative) /.test(one.verdict);

// What was slow together, in sentences; all pairs without a link are one line: `correlation`, `covariates` and `pressure_pairs` of the JSON.
function correlationNotes(report) {
	const rho = (one) => " (rho " + one.rho.toFixed(2) + (one.rho_low === null ? "" : ", " + one.rho_low.toFixed(2) + " to " + one.rho_high.toFixed(2)) + ")";
	const both = (one) => "; slow together in " + one.intervals_in_both_worst_quarters + (one.intervals_in_both_worst_quarters === 1 ? " interval, " : " intervals, ") + one.by_chance.toFixed(1) + " by chance";
	const pairs = (report.correlation ? report.correlation.pairs : []).map((one) => ({ ...one, names: one.probes, more: one.rho === null ? "" : both(one) }))
		.concat((report.covariates || []).filter((one) => one.rho !== null).map((one) => ({ ...one, names: [one.probe, one.table + " " + one.key] })))
		.concat((report.pressure_pairs || []).filter((one) => PRESSURES[one.column] || isFound(one)).map((one) => ({ ...one, names: [one.probe, pressureName(one.column)] })));
	const found = pairs.filter(isFound).map((one) => one.names.join(" and ") + ": " + one.verdict + rho(one) + (one.more || ""));
	for (const [text, some] of [["No link found: ", pairs.filter((one) => one.verdict && !isFound(one))], ["Too little to tell: ", pairs.filter((one) => !one.verdict)]]) {
		const others = new Map();
		some.forEach((one) => others.set(one.names[0], (others.get(one.names[0]) || []).concat(one.names[1])));
		if (others.size)
			found.push(text + [...others].map(([probe, names]) => probe + " with " + names.join(", ")).join("; ") + ".");
	}
	return found.map((text) => el("p", { class: "note correlation" }, text));
}
